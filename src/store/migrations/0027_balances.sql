-- Stored balances, which are maintained in the transaction of each ledger entry. Reading a wallet is one row.
CREATE TABLE wallets (
    team            INTEGER PRIMARY KEY REFERENCES teams (id),
    credits_cents   INTEGER NOT NULL DEFAULT 0,
    earned_cents    INTEGER NOT NULL DEFAULT 0, -- total, net of fees and refunds
    pending_cents   INTEGER NOT NULL DEFAULT 0, -- on hold
    available_cents INTEGER NOT NULL DEFAULT 0, -- can be converted or withdrawn
    -- Two balances within these bounds cannot overflow when they are added.
    CHECK (credits_cents BETWEEN -4000000000000000000 AND 4000000000000000000),
    CHECK (earned_cents BETWEEN -4000000000000000000 AND 4000000000000000000),
    CHECK (pending_cents BETWEEN -4000000000000000000 AND 4000000000000000000),
    CHECK (available_cents BETWEEN -4000000000000000000 AND 4000000000000000000)
) STRICT;

-- The balances of the accounts that belong to no team.
CREATE TABLE platform_balances (
    account TEXT    PRIMARY KEY CHECK (account IN ('platform', 'payments', 'payouts')),
    cents   INTEGER NOT NULL DEFAULT 0 CHECK (cents BETWEEN -4000000000000000000 AND 4000000000000000000)
) STRICT, WITHOUT ROWID;

-- Earnings on hold: what is left of a sale's net earnings until its hold ends. The row is deleted by the step that
-- ends the hold, or by the refund that takes the rest.
CREATE TABLE earnings_holds (
    entry           INTEGER PRIMARY KEY REFERENCES ledger_entries (id), -- the sale
    team            INTEGER NOT NULL REFERENCES teams (id),
    remaining_cents INTEGER NOT NULL CHECK (remaining_cents > 0),
    available_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX earnings_holds_by_team ON earnings_holds (team, available_at, entry);

-- What refunds took from holds.
CREATE TABLE earnings_hold_uses (
    hold   INTEGER NOT NULL REFERENCES ledger_entries (id), -- the sale whose earnings were on hold
    refund INTEGER NOT NULL REFERENCES ledger_entries (id),
    cents  INTEGER NOT NULL CHECK (cents > 0),
    PRIMARY KEY (hold, refund)
) STRICT, WITHOUT ROWID;

CREATE TABLE credit_purchases (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    cents        INTEGER NOT NULL CHECK (cents > 0),
    status       TEXT    NOT NULL CHECK (status = 'completed'),
    entry        INTEGER NOT NULL UNIQUE REFERENCES ledger_entries (id),
    created_at   INTEGER NOT NULL,
    completed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX credit_purchases_by_team ON credit_purchases (team, id);

CREATE TABLE withdrawals (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    cents        INTEGER NOT NULL CHECK (cents > 0),
    status       TEXT    NOT NULL,
    entry        INTEGER NOT NULL UNIQUE REFERENCES ledger_entries (id),
    reversal     INTEGER UNIQUE REFERENCES ledger_entries (id), -- of a failed withdrawal
    requested_at INTEGER NOT NULL,
    decided_at   INTEGER,
    CHECK ((status = 'requested') = (decided_at IS NULL)),
    CHECK ((status = 'failed') = (reversal IS NOT NULL))
) STRICT;
CREATE INDEX withdrawals_by_team ON withdrawals (team, id);

CREATE INDEX ledger_entries_by_purchase ON ledger_entries (purchase) WHERE purchase IS NOT NULL;
CREATE INDEX ledger_entries_by_time ON ledger_entries (created_at, id);

-- Holds that ended before the latest entry have ended. The others end by a step, even if it is overdue.
INSERT INTO earnings_holds (entry, team, remaining_cents, available_at)
SELECT min(e.id), p.team, sum(p.cents), max(e.available_at)
FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id AND p.account = 'earnings'
WHERE e.available_at > (SELECT max(created_at) FROM ledger_entries)
GROUP BY coalesce(e.purchase, -e.id), p.team HAVING sum(p.cents) > 0;
INSERT INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'hold_ends', entry, available_at, 1 FROM earnings_holds;

INSERT INTO wallets (team, credits_cents, earned_cents, pending_cents, available_cents)
SELECT t.id,
       coalesce(sum(p.cents) FILTER (WHERE p.account = 'credits'), 0),
       coalesce(sum(p.cents) FILTER (
           WHERE p.account = 'earnings' AND e.entry_type NOT IN ('credit_conversion', 'withdrawal')), 0),
       0,
       coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings'), 0)
FROM teams t LEFT JOIN ledger_postings p ON p.team = t.id LEFT JOIN ledger_entries e ON e.id = p.entry
GROUP BY t.id;
UPDATE wallets SET pending_cents = h.held, available_cents = available_cents - h.held
FROM (SELECT team, sum(remaining_cents) AS held FROM earnings_holds GROUP BY team) h WHERE wallets.team = h.team;

INSERT INTO platform_balances (account) VALUES ('platform'), ('payments'), ('payouts');
UPDATE platform_balances SET cents = p.cents
FROM (SELECT account, sum(cents) AS cents FROM ledger_postings WHERE team IS NULL GROUP BY account) p
WHERE platform_balances.account = p.account;

-- Withdrawals of earlier versions were paid at once. They have the ID of their entry.
INSERT INTO withdrawals (uuid, team, cents, status, entry, requested_at, decided_at)
SELECT e.uuid, p.team, -p.cents, 'paid', e.id, e.created_at, e.created_at
FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id AND p.account = 'earnings'
WHERE e.entry_type = 'withdrawal' AND p.cents < 0 ORDER BY e.id;

CREATE TRIGGER teams_have_wallets AFTER INSERT ON teams
BEGIN INSERT INTO wallets (team) VALUES (NEW.id); END;

-- A balance that was negative before may stay so, but no balance becomes negative, or falls further.
CREATE TRIGGER credits_suffice BEFORE UPDATE ON wallets
WHEN NEW.credits_cents < 0 AND NEW.credits_cents < OLD.credits_cents
BEGIN SELECT RAISE(ABORT, 'credits cannot become negative'); END;
CREATE TRIGGER available_earnings_suffice BEFORE UPDATE ON wallets
WHEN NEW.available_cents < 0 AND NEW.available_cents < OLD.available_cents
BEGIN SELECT RAISE(ABORT, 'available earnings cannot become negative'); END;
CREATE TRIGGER pending_earnings_suffice BEFORE UPDATE ON wallets
WHEN NEW.pending_cents < 0 AND NEW.pending_cents < OLD.pending_cents
BEGIN SELECT RAISE(ABORT, 'pending earnings cannot become negative'); END;
CREATE TRIGGER wallets_stay BEFORE DELETE ON wallets
BEGIN SELECT RAISE(ABORT, 'a wallet exists as long as its team'); END;
CREATE TRIGGER earnings_hold_uses_stay BEFORE UPDATE ON earnings_hold_uses
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER earnings_hold_uses_last BEFORE DELETE ON earnings_hold_uses
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TABLE offers (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    listing      INTEGER NOT NULL REFERENCES listings (id),
    buyer        INTEGER NOT NULL REFERENCES teams (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    status       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    decided_at   INTEGER,
    CHECK ((status = 'submitted') = (decided_at IS NULL))
) STRICT;
CREATE INDEX offers_by_listing ON offers (listing, status);
CREATE INDEX offers_by_buyer ON offers (buyer, created_at);

CREATE TABLE purchases (
    id                  INTEGER PRIMARY KEY,
    uuid                BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    listing             INTEGER NOT NULL REFERENCES listings (id),
    buyer               INTEGER NOT NULL REFERENCES teams (id),
    kind                TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    offer               INTEGER REFERENCES offers (id),
    scope               TEXT    NOT NULL CHECK (json_valid(scope)),
    price_cents         INTEGER NOT NULL CHECK (price_cents >= 0),
    buyer_fee_cents     INTEGER NOT NULL CHECK (buyer_fee_cents >= 0),
    platform_fee_cents  INTEGER NOT NULL CHECK (platform_fee_cents >= 0),
    created_at          INTEGER NOT NULL,
    paid_at             INTEGER,
    refunded_at         INTEGER,
    agreement_document  BLOB,
    agreement_signed_at INTEGER,
    CHECK ((kind = 'accepted_bid') = (offer IS NOT NULL)),
    CHECK ((status = 'refunded') = (refunded_at IS NOT NULL)),
    CHECK (status NOT IN ('completed', 'refunded') OR paid_at IS NOT NULL)
) STRICT;
CREATE INDEX purchases_by_buyer ON purchases (buyer, listing);
CREATE INDEX purchases_by_listing ON purchases (listing, status);

-- Double-entry bookkeeping, append-only: the postings of each entry sum to zero, and so does the whole table.
CREATE TABLE ledger_entries (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    entry_type   TEXT    NOT NULL,
    description  TEXT    NOT NULL,
    purchase     INTEGER REFERENCES purchases (id),
    created_at   INTEGER NOT NULL,
    available_at INTEGER NOT NULL
) STRICT;

-- `account` is `credits` or `earnings` of a team, or `platform`, `payments` (incoming) or `payouts` (outgoing).
CREATE TABLE ledger_postings (
    entry   INTEGER NOT NULL REFERENCES ledger_entries (id),
    account TEXT    NOT NULL,
    team    INTEGER REFERENCES teams (id),
    cents   INTEGER NOT NULL CHECK (cents <> 0),
    PRIMARY KEY (entry, account),
    CHECK ((team IS NULL) = (account IN ('platform', 'payments', 'payouts')))
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_postings_by_team ON ledger_postings (team, account) WHERE team IS NOT NULL;

CREATE TRIGGER ledger_entries_stay BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_entries_last BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_postings_stay BEFORE UPDATE ON ledger_postings
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_postings_last BEFORE DELETE ON ledger_postings
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

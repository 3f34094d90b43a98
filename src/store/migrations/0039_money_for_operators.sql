-- Operators list adjustments, and offers with the purchases that they led to.

-- Corrections of credits by the platform. Their entries have the same type as those of credit purchases and quality runs.
CREATE TABLE adjustments (
    entry INTEGER PRIMARY KEY REFERENCES ledger_entries (id),
    team  INTEGER NOT NULL REFERENCES teams (id),
    cents INTEGER NOT NULL CHECK (cents <> 0) -- change of the credits
) STRICT;
CREATE INDEX adjustments_by_team ON adjustments (team, entry);
-- Of earlier entries, only the description says that they are charges of quality runs.
INSERT INTO adjustments (entry, team, cents)
SELECT e.id, p.team, p.cents FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id AND p.account = 'credits'
WHERE e.entry_type = 'adjustment' AND e.description NOT GLOB 'Quality checks of “*”'
AND NOT EXISTS (SELECT 1 FROM credit_purchases c WHERE c.entry = e.id);
CREATE TRIGGER adjustments_stay BEFORE UPDATE ON adjustments
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER adjustments_last BEFORE DELETE ON adjustments
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE INDEX ledger_entries_by_type ON ledger_entries (entry_type);
CREATE INDEX purchases_by_offer ON purchases (offer) WHERE offer IS NOT NULL;
CREATE INDEX purchases_pending ON purchases (id) WHERE status = 'pending';
CREATE INDEX withdrawals_requested ON withdrawals (id) WHERE status = 'requested';

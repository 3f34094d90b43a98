-- Teams request credits, and the platform completes or rejects the request. Only a completed one has a ledger entry.

CREATE TABLE new_credit_purchases (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    cents        INTEGER NOT NULL CHECK (cents > 0),
    status       TEXT    NOT NULL,
    entry        INTEGER UNIQUE REFERENCES ledger_entries (id),
    requested_by BLOB    CHECK (length(requested_by) = 16), -- ID of the key; null if the platform acted
    created_at   INTEGER NOT NULL, -- time of the request
    decided_at   INTEGER,
    CHECK ((status = 'pending') = (decided_at IS NULL)),
    CHECK ((status = 'completed') = (entry IS NOT NULL))
) STRICT;
INSERT INTO new_credit_purchases (id, uuid, team, cents, status, entry, created_at, decided_at)
SELECT id, uuid, team, cents, status, entry, created_at, completed_at FROM credit_purchases ORDER BY id;
DROP TABLE credit_purchases;
ALTER TABLE new_credit_purchases RENAME TO credit_purchases;
CREATE INDEX credit_purchases_by_team ON credit_purchases (team, id);
CREATE INDEX credit_purchases_by_status ON credit_purchases (status);

-- As for the other lists of operators, the planner expects many rows of each status.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('credit_purchases', 'credit_purchases_by_status', '1048576 131072');
ANALYZE sqlite_schema;

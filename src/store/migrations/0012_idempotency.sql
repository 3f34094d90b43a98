-- Responses to requests with an `Idempotency-Key`, stored in the same transaction as the changes that they report.
CREATE TABLE idempotency_keys (
    team       INTEGER NOT NULL REFERENCES teams (id),
    key        TEXT    NOT NULL,
    route      TEXT    NOT NULL,
    body       BLOB    NOT NULL CHECK (length(body) = 32), -- SHA-256
    answer     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team, key, route)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

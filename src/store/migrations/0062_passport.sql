-- Documents of a bundle besides its manifest. Bundles that were prepared before have none.
ALTER TABLE bundles ADD COLUMN croissant BLOB; -- the description in Croissant as it is delivered

-- The keys by which the market signs, oldest first. The last one is in use, unless it has ended.
CREATE TABLE signing_keys (
    id         INTEGER PRIMARY KEY,
    public_key BLOB    NOT NULL UNIQUE CHECK (length(public_key) = 32),
    valid_from INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

-- The secret half of the key in use. Backups have it, and copies of the market do not.
CREATE TABLE signing_secrets (
    key  INTEGER PRIMARY KEY REFERENCES signing_keys (id),
    seed BLOB    NOT NULL CHECK (length(seed) = 32)
) STRICT;

-- What the market has signed about deliveries. Refunds do not delete it.
CREATE TABLE attestations (
    purchase         INTEGER PRIMARY KEY REFERENCES purchases (id),
    envelope         BLOB    NOT NULL, -- as it is delivered
    statement_sha256 TEXT    NOT NULL UNIQUE CHECK (length(statement_sha256) = 64),
    salt             BLOB    NOT NULL CHECK (length(salt) = 32), -- hides the buyer, who has it on the receipt
    is_certified     INTEGER NOT NULL CHECK (is_certified IN (0, 1)), -- whether it states a certification
    created_at       INTEGER NOT NULL
) STRICT;

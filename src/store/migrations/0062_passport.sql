-- Documents of a bundle besides its manifest. Bundles that were prepared before have none.
ALTER TABLE bundles ADD COLUMN croissant BLOB; -- the description in Croissant as it is delivered

-- What the documents say, as it was when the bundle was fixed. Bundles that were prepared before have none of it.
ALTER TABLE bundles ADD COLUMN listing_facts TEXT CHECK (json_valid(listing_facts)); -- null once the documents are made
ALTER TABLE bundles ADD COLUMN quality_run INTEGER REFERENCES quality_runs (id); -- the latest completed one of the listing
ALTER TABLE bundle_entries ADD COLUMN title TEXT; -- of the asset
-- Whether that run has checked the data that the entry is made of.
ALTER TABLE bundle_entries ADD COLUMN is_checked INTEGER NOT NULL DEFAULT 0 CHECK (is_checked IN (0, 1));

-- For bundles that are not prepared, what is known now is the best, except for the run: it may have checked other data.
UPDATE bundles SET listing_facts = (
    SELECT json_object('title', l.title, 'description', l.description, 'vendor', t.name,
        'domain_tags', json(l.domain_tags), 'tag_slugs', json(l.tag_slugs), 'created_at', l.created_at,
        'updated_at', l.updated_at, 'published_at', l.published_at, 'certified_at', l.certified_at)
    FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = bundles.listing)
WHERE manifest IS NULL;

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

-- The logs of what the market has signed, oldest first. The last one is in use, unless it has ended: a copy of the market that was
-- restored or promoted, or that has another key, begins its own. Each is a hash tree by RFC 6962.
CREATE TABLE attestation_logs (
    id          INTEGER PRIMARY KEY,
    origin      TEXT    NOT NULL UNIQUE, -- its name
    predecessor TEXT, -- the last head of the log before: its name, its size, and its root in Base64
    is_ended    INTEGER NOT NULL DEFAULT 0 CHECK (is_ended IN (0, 1))
) STRICT;

-- The hashes of 32 leaves at a time. All but those of attestations are random.
CREATE TABLE attestation_log_leaves (
    id     INTEGER PRIMARY KEY,
    log    INTEGER NOT NULL REFERENCES attestation_logs (id),
    block  INTEGER NOT NULL,
    hashes BLOB    NOT NULL CHECK (length(hashes) = 1024),
    UNIQUE (log, block)
) STRICT;

-- The hashes of complete subtrees with 2^level leaves, at least 32.
CREATE TABLE attestation_log_nodes (
    log      INTEGER NOT NULL REFERENCES attestation_logs (id),
    level    INTEGER NOT NULL CHECK (level BETWEEN 5 AND 62),
    position INTEGER NOT NULL,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (log, level, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE attestation_log_heads (
    log       INTEGER NOT NULL REFERENCES attestation_logs (id),
    size      INTEGER NOT NULL, -- number of leaves
    note      TEXT    NOT NULL, -- the signed checkpoint
    signed_at INTEGER NOT NULL,
    PRIMARY KEY (log, size)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER attestation_log_leaves_stay BEFORE UPDATE ON attestation_log_leaves
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;
CREATE TRIGGER attestation_log_leaves_are_kept BEFORE DELETE ON attestation_log_leaves
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;
CREATE TRIGGER attestation_log_nodes_stay BEFORE UPDATE ON attestation_log_nodes
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;
CREATE TRIGGER attestation_log_nodes_are_kept BEFORE DELETE ON attestation_log_nodes
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;
CREATE TRIGGER attestation_log_heads_stay BEFORE UPDATE ON attestation_log_heads
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;
CREATE TRIGGER attestation_log_heads_are_kept BEFORE DELETE ON attestation_log_heads
BEGIN SELECT RAISE(ABORT, 'the log of attestations is append-only'); END;

-- What the market has signed about deliveries. Refunds do not delete it.
CREATE TABLE attestations (
    purchase         INTEGER PRIMARY KEY REFERENCES purchases (id),
    statement_sha256 TEXT    NOT NULL UNIQUE CHECK (length(statement_sha256) = 64),
    salt             BLOB    NOT NULL CHECK (length(salt) = 32), -- hides the buyer, who has it on the receipt
    is_certified     INTEGER NOT NULL CHECK (is_certified IN (0, 1)), -- whether it states a certification
    -- Whether its buyer was told that this certification has ended.
    is_end_reported  INTEGER NOT NULL DEFAULT 0 CHECK (is_end_reported IN (0, 1)),
    created_at       INTEGER NOT NULL,
    key              INTEGER NOT NULL REFERENCES signing_keys (id), -- that has signed it
    leaf_hash        BLOB    NOT NULL CHECK (length(leaf_hash) = 32), -- of its envelope, in a log
    log              INTEGER REFERENCES attestation_logs (id), -- null until a head has it
    leaf             INTEGER, -- number of leaves before its own
    CHECK ((log IS NULL) = (leaf IS NULL)),
    UNIQUE (log, leaf)
) STRICT;

CREATE INDEX attestations_not_logged ON attestations (key) WHERE log IS NULL;

-- The envelopes as they are delivered. They can be large, and are not written again when a head has them.
CREATE TABLE attestation_envelopes (
    purchase INTEGER PRIMARY KEY REFERENCES attestations (purchase),
    envelope BLOB    NOT NULL
) STRICT;

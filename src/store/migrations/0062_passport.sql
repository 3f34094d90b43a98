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

-- What the market has signed about deliveries. Refunds do not delete it.
CREATE TABLE attestations (
    purchase         INTEGER PRIMARY KEY REFERENCES purchases (id),
    envelope         BLOB    NOT NULL, -- as it is delivered
    statement_sha256 TEXT    NOT NULL UNIQUE CHECK (length(statement_sha256) = 64),
    salt             BLOB    NOT NULL CHECK (length(salt) = 32), -- hides the buyer, who has it on the receipt
    is_certified     INTEGER NOT NULL CHECK (is_certified IN (0, 1)), -- whether it states a certification
    -- Whether its buyer was told that this certification has ended.
    is_end_reported  INTEGER NOT NULL DEFAULT 0 CHECK (is_end_reported IN (0, 1)),
    created_at       INTEGER NOT NULL
) STRICT;

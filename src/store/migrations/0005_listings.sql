-- Listings. The JSON that buyers see is derived and stored in `listing_renderings`.
CREATE TABLE listings (
    id                 INTEGER PRIMARY KEY,
    uuid               BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team               INTEGER NOT NULL REFERENCES teams (id),
    title              TEXT    NOT NULL,
    description        TEXT    NOT NULL,
    domain_tags        TEXT    NOT NULL CHECK (json_valid(domain_tags)),
    tag_slugs          TEXT    NOT NULL CHECK (json_valid(tag_slugs)),
    price_cents        INTEGER CHECK (price_cents >= 0),
    sample_price_cents INTEGER CHECK (sample_price_cents >= 0), -- null where no sample is offered
    accepts_bids       INTEGER NOT NULL CHECK (accepts_bids IN (0, 1)),
    terms              TEXT    NOT NULL,
    delivery_method    TEXT,
    delivery_days      INTEGER,
    available_from     INTEGER,
    featured           INTEGER CHECK (featured > 0),
    review_status      TEXT    NOT NULL,
    catalog_status     TEXT    NOT NULL,
    certified_at       INTEGER, -- null where the latest listing run did not certify it as it is now
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    published_at       INTEGER,
    archived_at        INTEGER,
    CHECK (catalog_status <> 'published' OR published_at IS NOT NULL),
    CHECK ((catalog_status = 'archived') = (archived_at IS NOT NULL))
) STRICT;
CREATE INDEX listings_by_team ON listings (team, catalog_status);

-- The assets of a listing, in the order in which they were attached.
CREATE TABLE listing_assets (
    listing  INTEGER NOT NULL REFERENCES listings (id),
    position INTEGER NOT NULL,
    asset    INTEGER NOT NULL REFERENCES assets (id),
    PRIMARY KEY (listing, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX listing_assets_by_asset ON listing_assets (asset, listing);

CREATE TABLE listing_history (
    id          INTEGER PRIMARY KEY,
    listing     INTEGER NOT NULL REFERENCES listings (id),
    event       TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    from_stage  TEXT,
    to_stage    TEXT    NOT NULL
) STRICT;
CREATE INDEX listing_history_by_listing ON listing_history (listing, occurred_at);

CREATE TABLE listing_bundle_files (
    listing    INTEGER NOT NULL REFERENCES listings (id),
    path       TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    sha256     TEXT    NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (listing, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE hub_ingests (
    listing      INTEGER NOT NULL REFERENCES listings (id),
    dataset_id   TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    bytes_copied INTEGER NOT NULL CHECK (bytes_copied >= 0),
    error        TEXT,
    PRIMARY KEY (listing, dataset_id)
) STRICT, WITHOUT ROWID;

-- Listings to update in the index, with the number of each listing's latest change. Rows are never deleted, so that any
-- index (an old copy, or one that is being rebuilt) can query the changes that it lacks.
CREATE TABLE index_queue (
    listing INTEGER PRIMARY KEY REFERENCES listings (id),
    change  INTEGER NOT NULL UNIQUE
) STRICT;

-- The JSON of a listing in the catalog, rendered after each change by the worker that also updates the index.
CREATE TABLE listing_renderings (
    listing INTEGER PRIMARY KEY REFERENCES listings (id),
    item    BLOB NOT NULL, -- the summary's JSON
    rest    BLOB NOT NULL  -- the further fields of the detail, as JSON
) STRICT;

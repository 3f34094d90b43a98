-- Inventory of vendors: locked fields, uploads, and the columns by which asset lists are filtered and sorted.

-- {field: source}: fields that were measured from linked data or sent with an API key.
ALTER TABLE assets ADD COLUMN locked_fields TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(locked_fields));
CREATE INDEX assets_by_taskset ON assets (taskset) WHERE taskset IS NOT NULL;
CREATE INDEX estimations_by_asset ON estimations (asset, created_at) WHERE asset IS NOT NULL;

-- Zip archives that teams uploaded to the market's blob store. Raw data assets refer to an upload by its `url`.
CREATE TABLE uploads (
    id         INTEGER PRIMARY KEY,
    uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team       INTEGER NOT NULL REFERENCES teams (id),
    file_name  TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    sha256     TEXT    NOT NULL CHECK (length(sha256) = 64),
    url        TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

ALTER TABLE data_objects ADD COLUMN manifest_url TEXT;
ALTER TABLE data_objects ADD COLUMN upload INTEGER REFERENCES uploads (id);

-- One narrow row per asset that is not deleted, with the columns by which lists are filtered and sorted. One function
-- derives it from the asset, its data, its task version and its estimations. Rows are never updated in place.
CREATE TABLE inventory (
    team           INTEGER NOT NULL,
    group_id       INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    asset          INTEGER NOT NULL REFERENCES assets (id),
    kind           TEXT    NOT NULL,
    stage          INTEGER NOT NULL CHECK (stage BETWEEN 0 AND 2), -- incomplete, proposed, complete
    is_linked      INTEGER NOT NULL CHECK (is_linked IN (0, 1)),
    name_key       TEXT    NOT NULL, -- the title in lower case, as Unicode has it
    domains        TEXT, -- ",health,law,"
    channel        TEXT,
    price_cents    INTEGER,
    estimate_cents INTEGER,
    exclusivity    TEXT,
    private_data   INTEGER,
    lines_of_code  INTEGER,
    commits        INTEGER,
    contributors   INTEGER,
    merged_prs     INTEGER,
    history_start  TEXT,
    history_end    TEXT,
    ci_on_prs      INTEGER,
    task_type      TEXT,
    has_traces     INTEGER,
    has_qa_results INTEGER,
    has_environment INTEGER,
    PRIMARY KEY (team, group_id, created_at, asset)
) STRICT, WITHOUT ROWID;
CREATE INDEX inventory_newest ON inventory (team, created_at, asset);
CREATE INDEX inventory_by_kind ON inventory (team, kind, created_at, asset);
CREATE INDEX inventory_by_name ON inventory (team, name_key);

-- Number of rows of `inventory` with equal values in the columns by which most lists count.
CREATE TABLE inventory_counts (
    team      INTEGER NOT NULL,
    group_id  INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    stage     INTEGER NOT NULL,
    is_linked INTEGER NOT NULL,
    assets    INTEGER NOT NULL CHECK (assets >= 0),
    PRIMARY KEY (team, group_id, kind, stage, is_linked)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER inventory_counts_more AFTER INSERT ON inventory BEGIN
    INSERT INTO inventory_counts (team, group_id, kind, stage, is_linked, assets)
    VALUES (new.team, new.group_id, new.kind, new.stage, new.is_linked, 1)
    ON CONFLICT DO UPDATE SET assets = assets + 1;
END;
CREATE TRIGGER inventory_counts_less AFTER DELETE ON inventory BEGIN
    UPDATE inventory_counts SET assets = assets - 1
    WHERE team = old.team AND group_id = old.group_id AND kind = old.kind AND stage = old.stage
        AND is_linked = old.is_linked;
END;
CREATE TRIGGER inventory_is_replaced BEFORE UPDATE ON inventory BEGIN
    SELECT raise(ABORT, 'rows of inventory are deleted and inserted, not updated');
END;

-- If there is a row, assets with a greater row ID may have no row in `inventory` yet, since they were written in bulk or
-- before this table existed.
CREATE TABLE inventory_backlog (
    after_asset INTEGER PRIMARY KEY
) STRICT;
INSERT INTO inventory_backlog (after_asset) SELECT 0 WHERE EXISTS (SELECT 1 FROM assets);

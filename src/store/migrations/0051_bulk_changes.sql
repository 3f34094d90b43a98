-- Changes of many assets at once. Those of more assets than one transaction changes are jobs.

CREATE TABLE bulk_changes (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    created_by   BLOB    CHECK (length(created_by) = 16), -- ID of the key; null if the platform acted
    action       TEXT    NOT NULL, -- JSON: what is done, with its parameters
    status       TEXT    NOT NULL,
    selected     INTEGER NOT NULL, -- number of assets
    changed      INTEGER NOT NULL, -- number of assets that were changed so far
    skipped      TEXT    NOT NULL, -- JSON: numbers and examples of the assets that were skipped so far, by reason
    created_at   INTEGER NOT NULL,
    completed_at INTEGER,
    CHECK ((status = 'running') = (completed_at IS NULL))
) STRICT;
CREATE INDEX bulk_changes_by_team ON bulk_changes (team, id);

-- The assets that are left to change. A change that has ended has none.
CREATE TABLE bulk_change_assets (
    bulk_change INTEGER NOT NULL REFERENCES bulk_changes (id),
    asset       INTEGER NOT NULL REFERENCES assets (id),
    PRIMARY KEY (bulk_change, asset)
) STRICT, WITHOUT ROWID;

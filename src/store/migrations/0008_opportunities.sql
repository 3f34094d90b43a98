-- Requests of buyers for listings (`listing`) or for custom task work (`project`).
CREATE TABLE opportunities (
    id                   INTEGER PRIMARY KEY,
    uuid                 BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    kind                 TEXT    NOT NULL CHECK (kind IN ('listing', 'project')),
    owner                INTEGER NOT NULL REFERENCES teams (id),
    title                TEXT    NOT NULL,
    description          TEXT    NOT NULL,
    status               TEXT    NOT NULL,
    accepted_asset_types TEXT    NOT NULL CHECK (json_valid(accepted_asset_types)),
    metadata             TEXT    NOT NULL CHECK (json_valid(metadata)),
    visibility_mode      TEXT    NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    deadline             INTEGER,
    closed_at            INTEGER,
    evaluation_date      INTEGER
) STRICT;
CREATE INDEX opportunities_by_owner ON opportunities (owner, kind);
CREATE INDEX opportunities_by_status ON opportunities (kind, status);

CREATE TABLE opportunity_exclusions (
    opportunity INTEGER NOT NULL REFERENCES opportunities (id),
    team        INTEGER NOT NULL REFERENCES teams (id),
    PRIMARY KEY (opportunity, team)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_bids (
    id                     INTEGER PRIMARY KEY,
    uuid                   BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    opportunity            INTEGER NOT NULL REFERENCES opportunities (id),
    team                   INTEGER NOT NULL REFERENCES teams (id),
    num_tasks              INTEGER NOT NULL CHECK (num_tasks > 0),
    status                 TEXT    NOT NULL,
    attachments            TEXT    NOT NULL CHECK (json_valid(attachments)),
    delivery_tasksets      TEXT    NOT NULL CHECK (json_valid(delivery_tasksets)), -- row numbers
    platform_events        TEXT    NOT NULL CHECK (json_valid(platform_events)),
    vendor_events          TEXT    NOT NULL CHECK (json_valid(vendor_events)),
    expected_timeline_days INTEGER,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    completed_at           INTEGER
) STRICT;
CREATE INDEX project_bids_by_opportunity ON project_bids (opportunity);
CREATE INDEX project_bids_by_team ON project_bids (team);

CREATE TABLE estimations (
    id               INTEGER PRIMARY KEY,
    uuid             BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team             INTEGER NOT NULL REFERENCES teams (id),
    kind             TEXT    NOT NULL,
    channel          TEXT    NOT NULL,
    repo_full_name   TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    status           TEXT    NOT NULL,
    measured         TEXT    CHECK (json_valid(measured)),
    quote_low_cents  INTEGER,
    quote_high_cents INTEGER,
    failure_message  TEXT,
    asset            INTEGER REFERENCES assets (id),
    created_by       BLOB    NOT NULL CHECK (length(created_by) = 16),
    created_at       INTEGER NOT NULL,
    completed_at     INTEGER,
    CHECK ((status = 'estimated') = (quote_low_cents IS NOT NULL)),
    CHECK ((quote_low_cents IS NULL) = (quote_high_cents IS NULL))
) STRICT;
CREATE INDEX estimations_by_team ON estimations (team, created_at);

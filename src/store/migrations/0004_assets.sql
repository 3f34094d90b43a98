-- Assets of all eight kinds. Columns that do not apply to a kind are null.
CREATE TABLE assets (
    id               INTEGER PRIMARY KEY,
    uuid             BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team             INTEGER NOT NULL REFERENCES teams (id),
    kind             TEXT    NOT NULL REFERENCES asset_types (slug),
    group_id         INTEGER NOT NULL REFERENCES groups (id),
    title            TEXT    NOT NULL,
    description      TEXT,
    domain_tags      TEXT    NOT NULL CHECK (json_valid(domain_tags)),
    other_domain     TEXT,
    price_cents      INTEGER CHECK (price_cents >= 0),
    notes            TEXT,
    extra_columns    TEXT    NOT NULL CHECK (json_valid(extra_columns)),
    created_at       INTEGER NOT NULL,
    deleted_at       INTEGER,
    -- codebase
    exclusivity      TEXT,
    lines_of_code    INTEGER CHECK (lines_of_code >= 0),
    commits          INTEGER CHECK (commits >= 0),
    contributors     INTEGER CHECK (contributors >= 0),
    merged_prs       INTEGER CHECK (merged_prs >= 0),
    history_start    TEXT,
    history_end      TEXT,
    ci_on_prs        INTEGER CHECK (ci_on_prs IN (0, 1)),
    languages        TEXT    CHECK (json_valid(languages)), -- {slug: bytes}
    -- raw_data
    file_count       INTEGER CHECK (file_count >= 0),
    file_extensions  TEXT    CHECK (json_valid(file_extensions)),
    -- task
    task_version     INTEGER REFERENCES task_versions (id),
    task_type        TEXT,
    -- taskset
    taskset          INTEGER REFERENCES tasksets (id),
    -- environment
    environment      TEXT    CHECK (json_valid(environment)), -- {build_version, built_at, capabilities, task_count, extra_columns}
    -- robotics_dataset
    robotics         TEXT    CHECK (json_valid(robotics)), -- {formats, episodes, size_bytes}
    -- other
    content_tags     TEXT    CHECK (json_valid(content_tags))
) STRICT;
CREATE INDEX assets_by_team ON assets (team, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX assets_by_task_version ON assets (team, task_version) WHERE task_version IS NOT NULL AND deleted_at IS NULL;

-- The tasksets of assets of kind `bundle`.
CREATE TABLE bundle_tasksets (
    asset    INTEGER NOT NULL REFERENCES assets (id),
    position INTEGER NOT NULL,
    taskset  INTEGER NOT NULL REFERENCES tasksets (id),
    PRIMARY KEY (asset, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX bundle_tasksets_by_taskset ON bundle_tasksets (taskset);

-- The linked repository or uploaded archive of an asset.
CREATE TABLE data_objects (
    asset           INTEGER PRIMARY KEY REFERENCES assets (id),
    channel         TEXT    NOT NULL,
    repo_full_name  TEXT,
    is_private      INTEGER NOT NULL CHECK (is_private IN (0, 1)),
    archive_status  TEXT    NOT NULL,
    analysis_status TEXT    NOT NULL,
    attached_at     INTEGER NOT NULL,
    analyzed_at     INTEGER,
    archive_bytes   INTEGER CHECK (archive_bytes >= 0),
    commit_sha      TEXT,
    archive_error   TEXT,
    analysis_error  TEXT
) STRICT;

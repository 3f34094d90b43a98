CREATE TABLE tasksets (
    id         INTEGER PRIMARY KEY,
    uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team       INTEGER NOT NULL REFERENCES teams (id),
    name       TEXT    NOT NULL,
    columns    TEXT    NOT NULL CHECK (json_valid(columns)), -- [{name, label, kind, derives}], in order
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tasks (
    id            INTEGER PRIMARY KEY,
    uuid          BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    taskset       INTEGER NOT NULL REFERENCES tasksets (id),
    name          TEXT    NOT NULL,
    description   TEXT,
    external_id   TEXT,
    tags          TEXT    NOT NULL CHECK (json_valid(tags)),
    binarized     INTEGER NOT NULL CHECK (binarized IN (0, 1)),
    column_values TEXT    NOT NULL CHECK (json_valid(column_values)),
    activity_log  TEXT    NOT NULL CHECK (json_valid(activity_log)),
    assignee      BLOB,
    created_at    INTEGER NOT NULL,
    deleted_at    INTEGER
) STRICT;
CREATE INDEX tasks_by_taskset ON tasks (taskset, created_at) WHERE deleted_at IS NULL;

CREATE TABLE task_versions (
    id                     INTEGER PRIMARY KEY,
    uuid                   BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    task                   INTEGER NOT NULL REFERENCES tasks (id),
    version                INTEGER NOT NULL CHECK (version > 0),
    current_state          TEXT    NOT NULL,
    lifecycle_stage        TEXT    NOT NULL,
    brief                  TEXT    NOT NULL CHECK (json_valid(brief)),
    agent_config           TEXT    NOT NULL CHECK (json_valid(agent_config)),
    environment            TEXT    NOT NULL CHECK (json_valid(environment)),
    internally_reviewed_at INTEGER,
    internally_reviewed_by BLOB,
    created_at             INTEGER NOT NULL,
    UNIQUE (task, version)
) STRICT;

CREATE TABLE task_builds (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    task_version INTEGER NOT NULL REFERENCES task_versions (id),
    build        INTEGER NOT NULL CHECK (build > 0),
    status       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    UNIQUE (task_version, build)
) STRICT;

-- Runs of agents on a version. `model` is null if the catalog does not know it, `reward` if the run was not graded.
CREATE TABLE task_traces (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    task_version INTEGER NOT NULL REFERENCES task_versions (id),
    model        TEXT,
    reward       REAL    CHECK (reward BETWEEN 0 AND 1),
    graded_at    INTEGER,
    build        INTEGER NOT NULL,
    qa           TEXT    NOT NULL CHECK (json_valid(qa)), -- {agent: {status, verdict, findings}}
    CHECK ((reward IS NULL) = (graded_at IS NULL))
) STRICT;
CREATE INDEX task_traces_by_version ON task_traces (task_version, graded_at);

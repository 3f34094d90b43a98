-- The quality of the task version that an asset represents, as of the last refresh.
CREATE TABLE task_readings (
    asset   INTEGER PRIMARY KEY REFERENCES assets (id),
    read_at INTEGER NOT NULL,
    quality TEXT    NOT NULL CHECK (json_valid(quality))
) STRICT;

-- The models and QA agents in `quality`, for filters.
CREATE TABLE task_reading_words (
    asset INTEGER NOT NULL REFERENCES assets (id),
    field TEXT    NOT NULL CHECK (field IN ('ran_on_model', 'qa_agent')),
    word  TEXT    NOT NULL,
    PRIMARY KEY (asset, field, word)
) STRICT, WITHOUT ROWID;

-- Requests to refresh the quality of all task assets of a team. Each team has at most one unfinished request.
CREATE TABLE qc_refreshes (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    team         INTEGER NOT NULL REFERENCES teams (id),
    status       TEXT    NOT NULL,
    requested_at INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    total        INTEGER NOT NULL CHECK (total >= 0),
    refreshed    INTEGER NOT NULL CHECK (refreshed BETWEEN 0 AND total),
    error        TEXT
) STRICT;
CREATE INDEX qc_refreshes_by_team ON qc_refreshes (team, id);
CREATE UNIQUE INDEX qc_refreshes_open ON qc_refreshes (team) WHERE finished_at IS NULL;

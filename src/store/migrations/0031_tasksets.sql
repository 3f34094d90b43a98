-- Imports of graded traces. The lines before `next_offset` were imported; a killed import continues there.
CREATE TABLE trace_imports (
    id           INTEGER PRIMARY KEY,
    uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    taskset      INTEGER NOT NULL REFERENCES tasksets (id),
    upload       INTEGER NOT NULL UNIQUE REFERENCES uploads (id),
    status       TEXT    NOT NULL,
    requested_at INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    next_offset  INTEGER NOT NULL DEFAULT 0 CHECK (next_offset >= 0),
    lines_read   INTEGER NOT NULL DEFAULT 0 CHECK (lines_read >= 0), -- with blank ones
    lines        INTEGER NOT NULL DEFAULT 0 CHECK (lines >= 0),
    inserted     INTEGER NOT NULL DEFAULT 0 CHECK (inserted >= 0),
    existing     INTEGER NOT NULL DEFAULT 0 CHECK (existing >= 0),
    rejected     INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    problems     TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(problems)), -- [{line, message}], the first ones
    error        TEXT
) STRICT;
CREATE INDEX trace_imports_by_taskset ON trace_imports (taskset, id);

-- Traces name their tasks by the vendor's identifiers.
CREATE INDEX tasks_by_external_id ON tasks (taskset, external_id)
WHERE external_id IS NOT NULL AND deleted_at IS NULL;

-- Number of traces of each version, which is limited.
ALTER TABLE task_versions ADD COLUMN traces INTEGER NOT NULL DEFAULT 0;
UPDATE task_versions SET traces = counted.traces
FROM (SELECT task_version, count(*) AS traces FROM task_traces GROUP BY task_version) counted
WHERE counted.task_version = task_versions.id;
CREATE TRIGGER task_versions_trace AFTER INSERT ON task_traces BEGIN
    UPDATE task_versions SET traces = traces + 1 WHERE id = new.task_version;
END;

-- When a step ended a key, a grant, or a kind, so that a clock that jumps back does not undo it. A step that was carried
-- out has no row.
ALTER TABLE keys ADD COLUMN expired_at INTEGER;
UPDATE keys SET expired_at = expires_at
WHERE expires_at IS NOT NULL AND revoked_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'key_expires' AND subject = keys.id);
ALTER TABLE upload_grants ADD COLUMN expired_at INTEGER;
UPDATE upload_grants SET expired_at = expires_at
WHERE revoked_at IS NULL AND consumed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'grant_expires' AND subject = upload_grants.id);
ALTER TABLE asset_types ADD COLUMN retired_at INTEGER;
UPDATE asset_types SET retired_at = retires_at
WHERE retires_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM due_steps WHERE kind = 'asset_type_retires' AND subject = asset_types.position);

-- The uploaded file of an import is deleted when the import has ended. A line that is too long is skipped in several
-- transactions.
CREATE TABLE new_trace_imports (
    id              INTEGER PRIMARY KEY,
    uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    taskset         INTEGER NOT NULL REFERENCES tasksets (id),
    upload          INTEGER UNIQUE REFERENCES uploads (id), -- null when the import has ended
    size_bytes      INTEGER NOT NULL CHECK (size_bytes > 0),
    status          TEXT    NOT NULL,
    requested_at    INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER,
    next_offset     INTEGER NOT NULL DEFAULT 0 CHECK (next_offset >= 0),
    lines_read      INTEGER NOT NULL DEFAULT 0 CHECK (lines_read >= 0), -- with blank ones
    is_in_long_line INTEGER NOT NULL DEFAULT 0 CHECK (is_in_long_line IN (0, 1)),
    lines           INTEGER NOT NULL DEFAULT 0 CHECK (lines >= 0),
    inserted        INTEGER NOT NULL DEFAULT 0 CHECK (inserted >= 0),
    existing        INTEGER NOT NULL DEFAULT 0 CHECK (existing >= 0),
    rejected        INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    problems        TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(problems)), -- [{line, message}], the first ones
    error           TEXT,
    CHECK (upload IS NOT NULL OR finished_at IS NOT NULL)
) STRICT;
INSERT INTO new_trace_imports
SELECT i.id, i.uuid, i.taskset, iif(i.finished_at IS NULL, i.upload, NULL), u.size_bytes, i.status, i.requested_at,
    i.started_at, i.finished_at, i.next_offset, i.lines_read, 0, i.lines, i.inserted, i.existing, i.rejected,
    i.problems, i.error
FROM trace_imports i JOIN uploads u ON u.id = i.upload;
CREATE TABLE ended_uploads AS SELECT upload FROM trace_imports WHERE finished_at IS NOT NULL;
DROP TABLE trace_imports;
ALTER TABLE new_trace_imports RENAME TO trace_imports;
CREATE INDEX trace_imports_by_taskset ON trace_imports (taskset, id);
INSERT INTO discarded_uploads (upload, reference, size_bytes)
SELECT uuid, NULL, size_bytes FROM uploads WHERE id IN (SELECT upload FROM ended_uploads);
DELETE FROM uploads WHERE id IN (SELECT upload FROM ended_uploads);
DROP TABLE ended_uploads;

-- Teams are found by their names in lower case, which the code of the migration computes. Duplicates of earlier
-- versions stay.
ALTER TABLE teams ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
CREATE INDEX teams_by_name_key ON teams (name_key);

-- Number of tasks of each taskset that are not deleted, which is limited.
ALTER TABLE tasksets ADD COLUMN tasks INTEGER NOT NULL DEFAULT 0;
UPDATE tasksets SET tasks = counted.tasks
FROM (SELECT taskset, count(*) AS tasks FROM tasks WHERE deleted_at IS NULL GROUP BY taskset) counted
WHERE counted.taskset = tasksets.id;
CREATE TRIGGER tasksets_task AFTER INSERT ON tasks WHEN new.deleted_at IS NULL BEGIN
    UPDATE tasksets SET tasks = tasks + 1 WHERE id = new.taskset;
END;
CREATE TRIGGER tasksets_task_changed AFTER UPDATE OF deleted_at ON tasks
WHEN (old.deleted_at IS NULL) <> (new.deleted_at IS NULL) BEGIN
    UPDATE tasksets SET tasks = tasks + iif(new.deleted_at IS NULL, 1, -1) WHERE id = new.taskset;
END;
CREATE TRIGGER tasksets_task_removed AFTER DELETE ON tasks WHEN old.deleted_at IS NULL BEGIN
    UPDATE tasksets SET tasks = tasks - 1 WHERE id = old.taskset;
END;

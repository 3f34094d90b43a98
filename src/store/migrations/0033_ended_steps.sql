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

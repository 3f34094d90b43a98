-- Number of versions that were added to the tasks of a taskset, and of tasks that were deleted. With the number of tasks it tells
-- whether what the taskset delivers has changed.
ALTER TABLE tasksets ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
UPDATE tasksets SET changes = counted.changes
FROM (SELECT t.taskset, count(*) AS changes FROM task_versions v JOIN tasks t ON t.id = v.task GROUP BY t.taskset) counted
WHERE counted.taskset = tasksets.id;
CREATE TRIGGER tasksets_version_added AFTER INSERT ON task_versions BEGIN
    UPDATE tasksets SET changes = changes + 1 WHERE id = (SELECT taskset FROM tasks WHERE id = new.task);
END;
CREATE TRIGGER tasksets_task_deleted AFTER UPDATE OF deleted_at ON tasks
WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
    UPDATE tasksets SET changes = changes + 1 WHERE id = new.taskset;
END;

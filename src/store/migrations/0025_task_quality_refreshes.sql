-- Refreshes of task quality are executed by jobs.
ALTER TABLE qc_refreshes RENAME TO task_quality_refreshes;
DROP INDEX qc_refreshes_by_team;
DROP INDEX qc_refreshes_open;
CREATE INDEX task_quality_refreshes_by_team ON task_quality_refreshes (team, id);
CREATE UNIQUE INDEX task_quality_refreshes_open ON task_quality_refreshes (team) WHERE finished_at IS NULL;
INSERT INTO jobs (kind, subject, run_after, enqueued_at, queue, team)
SELECT 'refresh_task_quality', id, requested_at, requested_at, 'updates', team
FROM task_quality_refreshes WHERE finished_at IS NULL ORDER BY id;

-- Cleanups no longer wait for analyses.
UPDATE jobs SET queue = 'updates' WHERE kind = 'sweep';

-- The time at which the next job is due.
CREATE INDEX jobs_by_time ON jobs (run_after);

-- Jobs take turns by team, and are given up after two starts that were interrupted.
ALTER TABLE jobs ADD COLUMN queue TEXT NOT NULL DEFAULT 'analyses';
ALTER TABLE jobs ADD COLUMN team INTEGER NOT NULL DEFAULT 0; -- row ID of the team; 0 for the platform's own work
ALTER TABLE jobs ADD COLUMN interrupted_starts INTEGER NOT NULL DEFAULT 0 CHECK (interrupted_starts >= 0);
UPDATE jobs SET queue = 'copies' WHERE kind = 'copy_repository';
UPDATE jobs SET team = coalesce((SELECT team FROM assets WHERE id = subject), 0)
WHERE kind IN ('read_archive', 'copy_repository', 'read_repository');
UPDATE jobs SET team = coalesce(
    (SELECT coalesce((SELECT team FROM listings WHERE id = r.listing), (SELECT team FROM assets WHERE id = r.asset))
     FROM quality_runs r WHERE r.id = subject), 0)
WHERE kind = 'run_checks';

DROP INDEX jobs_by_time;
CREATE INDEX jobs_by_team ON jobs (queue, team, run_after, id);
CREATE INDEX jobs_leased ON jobs (queue, team, leased_until) WHERE leased_until IS NOT NULL;

-- The latest claim of a job of each team, by which teams take turns.
CREATE TABLE job_claims (
    queue TEXT    NOT NULL,
    team  INTEGER NOT NULL,
    claim INTEGER NOT NULL, -- increases with each claim
    PRIMARY KEY (queue, team)
) STRICT, WITHOUT ROWID;

-- Replies of child processes that read uploads, so that an upload is read once, however many assets have it.
CREATE TABLE upload_replies (
    upload  INTEGER NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    task    TEXT    NOT NULL, -- what was done, and within which limits
    version TEXT    NOT NULL, -- of the program that did it, and of the file
    reply   BLOB    NOT NULL, -- JSON, compressed with zstd
    PRIMARY KEY (upload, task)
) STRICT;

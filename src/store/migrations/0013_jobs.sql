-- Work that requests start and that runs in the background. A finished job is deleted; its results are in other tables.
CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: a lease counts for one job only
    kind         TEXT    NOT NULL,
    subject      INTEGER NOT NULL, -- the row number of what it is about
    attempts     INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0), -- how often it was begun
    run_after    INTEGER NOT NULL,
    lease        INTEGER NOT NULL DEFAULT 0, -- rises whenever somebody takes it, so that who lost it can tell
    leased_until INTEGER,
    enqueued_at  INTEGER NOT NULL,
    UNIQUE (kind, subject)
) STRICT;
CREATE INDEX jobs_by_time ON jobs (run_after, id);

-- Uploads that were attached before this table existed.
INSERT INTO jobs (kind, subject, run_after, enqueued_at)
SELECT 'read_archive', asset, attached_at, attached_at FROM data_objects
WHERE upload IS NOT NULL AND analysis_status IN ('pending', 'running') ORDER BY attached_at, asset;

-- The directory trees of linked data, as they are shown to the vendor.
CREATE TABLE data_structures (
    asset     INTEGER PRIMARY KEY REFERENCES data_objects (asset) ON DELETE CASCADE,
    max_depth INTEGER NOT NULL CHECK (max_depth > 0),
    roots     TEXT    NOT NULL CHECK (json_valid(roots))
) STRICT;

-- Delivery: the bundle of each completed purchase, and what a listing's sample has.

ALTER TABLE listings ADD COLUMN sample TEXT CHECK (json_valid(sample)); -- [{asset: 32 digits, paths, task_ids}]; null by default

-- CRC-32 checksums of uploads, which ZIP archives state; null until a bundle needs it.
ALTER TABLE uploads ADD COLUMN crc32 INTEGER;

-- The order in which tasks were deleted: a bundle that was fixed before still has the task.
CREATE TABLE task_deletions (
    id   INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX task_deletions_by_task ON task_deletions (task);
CREATE TRIGGER task_deletions_task AFTER UPDATE OF deleted_at ON tasks
WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
    INSERT INTO task_deletions (task) VALUES (new.id);
END;

CREATE INDEX tasks_of_tasksets ON tasks (taskset);

-- What is delivered. Rows of tasks are fixed by the highest row numbers: they are never changed or removed.
CREATE TABLE bundles (
    id            INTEGER PRIMARY KEY,
    listing       INTEGER NOT NULL REFERENCES listings (id),
    purchase      INTEGER UNIQUE REFERENCES purchases (id), -- null for the vendor's own, of the listing as it was then
    listing_change INTEGER NOT NULL, -- number of the listing's latest change
    last_task     INTEGER NOT NULL,
    last_version  INTEGER NOT NULL,
    last_build    INTEGER NOT NULL,
    last_deletion INTEGER NOT NULL,
    manifest      BLOB, -- the manifest as it is delivered; null until all entries are prepared
    CHECK (manifest IS NULL OR length(manifest) > 0)
) STRICT;
CREATE INDEX bundles_of_vendors ON bundles (listing) WHERE purchase IS NULL;

CREATE TABLE bundle_entries (
    bundle      INTEGER NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
    asset       INTEGER NOT NULL REFERENCES assets (id),
    content     TEXT    NOT NULL CHECK (content IN ('repository', 'upload', 'tasks', 'description')),
    upload      INTEGER REFERENCES uploads (id),
    attached_at INTEGER, -- when the repository was linked
    commit_sha  TEXT,
    selection   TEXT    CHECK (json_valid(selection)), -- {paths, task_ids} of a sample; null for everything
    description TEXT    CHECK (json_valid(description)), -- what is delivered of an asset without bytes
    -- What was prepared; null until then.
    source      TEXT    CHECK (source IN ('upload', 'file', 'description')),
    path        TEXT,
    size_bytes  INTEGER CHECK (size_bytes >= 0),
    sha256      TEXT    CHECK (length(sha256) = 64),
    crc32       INTEGER,
    problem     TEXT, -- why the description takes the place of the data
    PRIMARY KEY (bundle, asset)
) STRICT, WITHOUT ROWID;
CREATE INDEX bundle_entries_of_repositories ON bundle_entries (asset, attached_at) WHERE attached_at IS NOT NULL;
CREATE INDEX bundle_entries_with_files ON bundle_entries (sha256) WHERE source = 'file';

-- For earlier purchases, the data that their assets have now is the best that is known.
INSERT INTO bundles (listing, purchase, listing_change, last_task, last_version, last_build, last_deletion)
SELECT p.listing, p.id, 0, (SELECT coalesce(max(id), 0) FROM tasks),
    (SELECT coalesce(max(id), 0) FROM task_versions), (SELECT coalesce(max(id), 0) FROM task_builds), 0
FROM purchases p WHERE p.status = 'completed';
INSERT INTO bundle_entries (bundle, asset, content, upload, attached_at, commit_sha, selection, description)
SELECT bundle, asset, content, iif(content = 'upload', upload, NULL),
    iif(content = 'repository', attached_at, NULL), iif(content = 'repository', commit_sha, NULL), selection,
    iif(content IN ('repository', 'description'), json_patch('{}', json_object(
        'kind', kind, 'title', title, 'description', description, 'domain_tags', json(domain_tags),
        'other_domain', other_domain, 'lines_of_code', lines_of_code, 'commits', commits,
        'contributors', contributors, 'merged_prs', merged_prs, 'history_start', history_start,
        'history_end', history_end, 'languages', json(languages), 'file_count', file_count,
        'file_extensions', json(file_extensions), 'environment', json(json_remove(environment, '$.extra_columns')),
        'robotics', json(robotics), 'content_tags', json(content_tags))), NULL)
FROM (
    SELECT b.id AS bundle, a.id AS asset, a.*, d.upload, d.attached_at, d.commit_sha,
        iif(p.kind = 'sample', '{}', NULL) AS selection,
        CASE
            WHEN a.kind IN ('task', 'taskset', 'bundle') THEN 'tasks'
            WHEN d.upload IS NOT NULL THEN 'upload'
            WHEN d.channel <> 'zip' AND d.archive_status = 'completed' AND d.commit_sha IS NOT NULL THEN 'repository'
            ELSE 'description'
        END AS content
    FROM bundles b JOIN purchases p ON p.id = b.purchase JOIN purchase_assets pa ON pa.purchase = p.id
    JOIN assets a ON a.id = pa.asset LEFT JOIN data_objects d ON d.asset = a.id
);

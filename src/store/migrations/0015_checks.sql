-- Finding of a check, visible only to the vendor.
ALTER TABLE quality_checks ADD COLUMN message TEXT;

-- The assets that a listing had when the run started. The result of the run applies only to these.
ALTER TABLE quality_runs ADD COLUMN assets TEXT CHECK (assets IS NULL OR json_valid(assets));
CREATE INDEX quality_runs_under_way ON quality_runs (asset) WHERE status IN ('queued', 'running');

-- Description of linked data as a dataset: tables, rows, recordings.
ALTER TABLE data_structures ADD COLUMN dataset TEXT CHECK (dataset IS NULL OR json_valid(dataset));

-- Fingerprints of the files in linked data, to find duplicates. They are deleted with the data.
CREATE TABLE data_fingerprints (
    asset       INTEGER PRIMARY KEY REFERENCES data_objects (asset) ON DELETE CASCADE,
    fingerprint BLOB    NOT NULL
) STRICT;

-- Metadata from the host of a copied repository, for its analysis.
ALTER TABLE data_objects ADD COLUMN about TEXT CHECK (about IS NULL OR json_valid(about));

-- Repositories that were linked before the `copy_repository` job existed.
INSERT INTO jobs (kind, subject, run_after, enqueued_at)
SELECT 'copy_repository', asset, attached_at, attached_at FROM data_objects
WHERE channel <> 'zip' AND repo_full_name IS NOT NULL AND archive_status IN ('pending', 'running')
ORDER BY attached_at, asset;

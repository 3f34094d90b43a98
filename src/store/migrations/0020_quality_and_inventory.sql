-- {field: {value, is_from_api}}: what fields were before linked data replaced them. Detaching the data restores it.
ALTER TABLE data_objects ADD COLUMN replaced_values TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(replaced_values));

-- The team that pays for a run, so that its report includes runs of assets, also of deleted ones.
ALTER TABLE quality_runs ADD COLUMN team INTEGER REFERENCES teams (id);
UPDATE quality_runs SET team = coalesce(
    (SELECT team FROM listings WHERE id = quality_runs.listing), (SELECT team FROM assets WHERE id = quality_runs.asset));
CREATE INDEX quality_runs_by_team ON quality_runs (team, started_at);

-- Only codebases have an estimate and private data. The rows of other assets are derived again.
INSERT OR IGNORE INTO inventory_backlog (after_asset)
SELECT 0 WHERE EXISTS (
    SELECT 1 FROM inventory WHERE kind <> 'codebase' AND (estimate_cents IS NOT NULL OR private_data IS NOT NULL));
DELETE FROM inventory WHERE kind <> 'codebase' AND (estimate_cents IS NOT NULL OR private_data IS NOT NULL);

-- Vendors page through all runs of their assets and listings in the order of the row IDs.
CREATE INDEX quality_runs_of_team ON quality_runs (team);

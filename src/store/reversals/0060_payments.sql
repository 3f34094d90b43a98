-- Keys that permit payments only are unknown to earlier versions, so they are revoked.
UPDATE keys SET revoked_at = coalesce(revoked_at, unixepoch() * 1000000) WHERE scope = 'payments';
ALTER TABLE keys ADD COLUMN old_scope TEXT NOT NULL DEFAULT 'all' CHECK (old_scope IN ('all', 'read'));
UPDATE keys SET old_scope = 'read' WHERE scope <> 'all';
ALTER TABLE keys DROP COLUMN scope;
ALTER TABLE keys RENAME COLUMN old_scope TO scope;
-- The other column is replaced so that the columns have the order of before.
ALTER TABLE keys ADD COLUMN old_scope TEXT NOT NULL DEFAULT 'api' CHECK (old_scope IN ('api', 'console', 'all'));
UPDATE keys SET old_scope = team_scope WHERE team_scope <> 'api';
ALTER TABLE keys DROP COLUMN team_scope;
ALTER TABLE keys RENAME COLUMN old_scope TO team_scope;

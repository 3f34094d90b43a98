-- A key of an operator can permit payments only. The column is replaced, since a constraint of a column cannot be changed.
ALTER TABLE keys ADD COLUMN new_scope TEXT NOT NULL DEFAULT 'all' CHECK (new_scope IN ('all', 'read', 'payments'));
UPDATE keys SET new_scope = scope WHERE scope <> 'all';
ALTER TABLE keys DROP COLUMN scope;
ALTER TABLE keys RENAME COLUMN new_scope TO scope;

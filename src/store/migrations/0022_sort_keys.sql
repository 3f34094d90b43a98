-- The key that orders groups by name, as Unicode collation does. Keys differ between versions of the collation data, so
-- all are derived again when a database with keys of another version is opened.
ALTER TABLE groups ADD COLUMN sort_key BLOB NOT NULL DEFAULT x'';
CREATE INDEX groups_by_sort_key ON groups (team, is_default DESC, sort_key, name_key);

-- The version of the keys: one row. Version 0 is that of keys that were never derived.
CREATE TABLE sort_key_version (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO sort_key_version (id, version) VALUES (1, 0);

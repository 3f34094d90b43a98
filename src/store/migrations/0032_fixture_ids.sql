-- The IDs that records of fixture sets state, by key, so that later sets can refer to them by key. Other IDs
-- are derived from the key.
CREATE TABLE fixture_ids (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    id BLOB NOT NULL,
    PRIMARY KEY (collection, key)
) STRICT, WITHOUT ROWID;

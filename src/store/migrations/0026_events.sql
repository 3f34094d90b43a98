-- What has happened, in the order of the commits: every operation adds its events in its own transaction.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, since clients continue after the last one
    type        TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    team        INTEGER REFERENCES teams (id), -- whose view it is; null if it affects no team
    subject     TEXT    NOT NULL, -- ID or slug of the record; the type says of which kind
    data        TEXT    NOT NULL CHECK (json_valid(data))
) STRICT;
CREATE INDEX events_by_team ON events (team, id);
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

-- What time alone changes, by the time at which it is due. A step that was carried out has no row.
CREATE TABLE due_steps (
    kind        TEXT    NOT NULL,
    subject     INTEGER NOT NULL, -- row ID
    due_at      INTEGER NOT NULL,
    is_migrated INTEGER NOT NULL DEFAULT 0 CHECK (is_migrated IN (0, 1)), -- written by a migration, not yet by an operation
    is_quiet    INTEGER NOT NULL DEFAULT 0 CHECK (is_quiet IN (0, 1)),    -- notifies nobody
    error       TEXT, -- why the step failed; it is repeated when the market is opened the next time
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_steps_by_time ON due_steps (due_at, kind, subject) WHERE error IS NULL;

-- Asset kinds retire by a step. Their row ID is the position, which never changes.
INSERT INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'asset_type_retires', position, retires_at, 1 FROM asset_types
WHERE retires_at IS NOT NULL AND NOT retirement_noted;
ALTER TABLE asset_types DROP COLUMN retirement_noted;

-- No two listings have the same featured place. If some do, all get other places in the same order.
CREATE TABLE featured_places AS
SELECT id, row_number() OVER (ORDER BY featured, published_at DESC, id DESC) AS place
FROM listings WHERE featured IS NOT NULL;
INSERT INTO index_queue (listing, change)
SELECT id, (SELECT coalesce(max(change), 0) FROM index_queue) + place FROM featured_places
WHERE EXISTS (SELECT 1 FROM listings WHERE featured IS NOT NULL GROUP BY featured HAVING count(*) > 1)
ON CONFLICT (listing) DO UPDATE SET change = excluded.change;
UPDATE listings SET featured = (SELECT place FROM featured_places p WHERE p.id = listings.id)
WHERE featured IS NOT NULL
    AND EXISTS (SELECT 1 FROM listings WHERE featured IS NOT NULL GROUP BY featured HAVING count(*) > 1);
DROP TABLE featured_places;
CREATE UNIQUE INDEX listings_by_featured ON listings (featured) WHERE featured IS NOT NULL;

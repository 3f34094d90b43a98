-- By which values published listings were ordered before each change of these values, so that all pages of a walk
-- through the catalog can have the order of its first page.
CREATE TABLE listing_sort_changes (
    change      INTEGER NOT NULL, -- number of the change, as in index_queue
    listing     INTEGER NOT NULL REFERENCES listings (id),
    certified   INTEGER NOT NULL CHECK (certified IN (0, 1)),
    featured    INTEGER,
    price_cents INTEGER,
    PRIMARY KEY (change, listing)
) STRICT, WITHOUT ROWID;

-- The listing is already in the queue, with the number of this change.
CREATE TRIGGER listing_sort_change BEFORE UPDATE OF certified_at, featured, price_cents ON listings
WHEN old.catalog_status = 'published' AND new.catalog_status = 'published'
    AND ((old.certified_at IS NULL) <> (new.certified_at IS NULL) OR old.featured IS NOT new.featured
        OR old.price_cents IS NOT new.price_cents)
BEGIN
    INSERT OR IGNORE INTO listing_sort_changes (change, listing, certified, featured, price_cents)
    SELECT change, old.id, old.certified_at IS NOT NULL, old.featured, old.price_cents
    FROM index_queue WHERE listing = old.id;
END;

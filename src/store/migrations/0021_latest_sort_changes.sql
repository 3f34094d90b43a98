-- Replaces `listing_sort_changes`, so that a page of a walk reads one row per listing that changed since the first
-- page, however often it changed, and only changes that its sort order compares.
CREATE TABLE pruned_sort_changes (
    through INTEGER NOT NULL -- number of the last change that may have been deleted from listing_sort_changes
) STRICT;
INSERT INTO pruned_sort_changes (through) SELECT coalesce(max(change), 0) FROM listing_sort_changes;

DROP TRIGGER listing_sort_change;
DROP TABLE listing_sort_changes;

-- By which values published listings were ordered before each change of these values, so that all pages of a walk
-- through the catalog can have the order of its first page.
CREATE TABLE listing_sort_changes (
    sort        TEXT    NOT NULL CHECK (sort IN ('recommended', 'price')),
    listing     INTEGER NOT NULL REFERENCES listings (id),
    change      INTEGER NOT NULL, -- number of the change, as in index_queue
    certified   INTEGER NOT NULL CHECK (certified IN (0, 1)),
    featured    INTEGER,
    price_cents INTEGER,
    changed_at  INTEGER NOT NULL,
    is_latest   INTEGER NOT NULL CHECK (is_latest IN (0, 1)), -- of the changes of the listing in this sort
    PRIMARY KEY (sort, listing, change)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_sort_changes_latest ON listing_sort_changes (sort, change) WHERE is_latest;
CREATE INDEX listing_sort_changes_by_change ON listing_sort_changes (change);

-- Rounds of the reviews of listings: what was submitted, and how the platform decided. Earlier rounds are in the history only.
CREATE TABLE reviews (
    id           INTEGER PRIMARY KEY,
    listing      INTEGER NOT NULL REFERENCES listings (id),
    number       INTEGER NOT NULL CHECK (number > 0), -- of the round, from 1 for each listing
    submitted_at INTEGER NOT NULL,
    snapshot     TEXT    CHECK (json_valid(snapshot)), -- texts, prices, and terms; null if withdrawn before another round
    asset_count  INTEGER NOT NULL CHECK (asset_count >= 0),
    sha256       TEXT    NOT NULL CHECK (length(sha256) = 64), -- of the snapshot and the assets
    decision     TEXT,
    decided_at   INTEGER,
    note         TEXT, -- to the vendor
    CHECK ((decision IS NULL) = (decided_at IS NULL)),
    UNIQUE (listing, number)
) STRICT;

-- The assets of a round with a snapshot.
CREATE TABLE review_assets (
    review  INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    asset   INTEGER NOT NULL REFERENCES assets (id),
    title   TEXT    NOT NULL,
    content TEXT, -- what identifies the data: a digest, a commit, or the number of tasks and the newest one
    PRIMARY KEY (review, asset)
) STRICT, WITHOUT ROWID;

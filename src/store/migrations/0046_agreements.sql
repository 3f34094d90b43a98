-- The terms of a purchase as they were when it was completed. Earlier purchases have none.
CREATE TABLE agreements (
    purchase   INTEGER PRIMARY KEY REFERENCES purchases (id),
    text       TEXT    NOT NULL,
    sha256     TEXT    NOT NULL CHECK (length(sha256) = 64), -- of the text
    created_at INTEGER NOT NULL
) STRICT;

-- What a buyer agreed to when it ordered, until the agreement is made of it. Earlier purchases have none.
CREATE TABLE ordered_terms (
    purchase INTEGER PRIMARY KEY REFERENCES purchases (id),
    text     TEXT    NOT NULL
) STRICT;

-- Digest of what the bidder signed; null if it signed nothing, since the platform bid in its name.
ALTER TABLE offers ADD COLUMN signed_sha256 TEXT CHECK (length(signed_sha256) = 64);

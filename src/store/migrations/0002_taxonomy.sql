CREATE TABLE domains (
    slug     TEXT PRIMARY KEY,
    label    TEXT    NOT NULL,
    position INTEGER NOT NULL
) STRICT;

CREATE TABLE inventory_tags (
    slug        TEXT PRIMARY KEY,
    label       TEXT    NOT NULL,
    description TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    position    INTEGER NOT NULL
) STRICT;

CREATE TABLE content_tags (
    slug     TEXT PRIMARY KEY,
    label    TEXT    NOT NULL,
    position INTEGER NOT NULL
) STRICT;

-- `retirement_noted`: whether the listings were rendered again after the kind was retired.
CREATE TABLE asset_types (
    slug                 TEXT PRIMARY KEY,
    label                TEXT    NOT NULL,
    position             INTEGER NOT NULL,
    is_enabled           INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
    listing_kinds        TEXT    NOT NULL CHECK (json_valid(listing_kinds)),
    deprecated_at        INTEGER,
    retires_at           INTEGER,
    accepts_new_listings INTEGER NOT NULL DEFAULT 1 CHECK (accepts_new_listings IN (0, 1)),
    message              TEXT,
    retirement_noted     INTEGER NOT NULL DEFAULT 0 CHECK (retirement_noted IN (0, 1)),
    CHECK ((deprecated_at IS NULL) = (retires_at IS NULL)),
    CHECK ((deprecated_at IS NULL) = (message IS NULL))
) STRICT;

CREATE TABLE languages (
    slug     TEXT PRIMARY KEY,
    name     TEXT    NOT NULL,
    aliases  TEXT    NOT NULL CHECK (json_valid(aliases)),
    position INTEGER NOT NULL
) STRICT;

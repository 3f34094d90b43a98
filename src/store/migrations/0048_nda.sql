-- The texts of the mutual NDA that teams have accepted. `teams.nda_accepted_at` is the time of the first acceptance, of any text.

CREATE TABLE nda_acceptances (
    id          INTEGER PRIMARY KEY,
    team        INTEGER NOT NULL REFERENCES teams (id),
    digest      BLOB    NOT NULL CHECK (length(digest) = 32), -- SHA-256 of the text
    accepted_by BLOB    CHECK (length(accepted_by) = 16), -- ID of the key; null if the platform recorded it
    accepted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX nda_acceptances_by_team ON nda_acceptances (team, id);

-- Quality runs of a listing or of one asset.
CREATE TABLE quality_runs (
    id              INTEGER PRIMARY KEY,
    uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    listing         INTEGER REFERENCES listings (id),
    asset           INTEGER REFERENCES assets (id),
    run_number      INTEGER NOT NULL CHECK (run_number > 0),
    status          TEXT    NOT NULL,
    triggered_by    TEXT    NOT NULL,
    review_feedback TEXT,
    error           TEXT,
    charge_cents    INTEGER NOT NULL CHECK (charge_cents >= 0),
    started_at      INTEGER NOT NULL,
    completed_at    INTEGER,
    CHECK ((listing IS NULL) <> (asset IS NULL))
) STRICT;
CREATE UNIQUE INDEX quality_runs_by_listing ON quality_runs (listing, run_number) WHERE listing IS NOT NULL;
CREATE UNIQUE INDEX quality_runs_by_asset ON quality_runs (asset, run_number) WHERE asset IS NOT NULL;

CREATE TABLE quality_checks (
    id            INTEGER PRIMARY KEY,
    uuid          BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    run           INTEGER NOT NULL REFERENCES quality_runs (id),
    asset         INTEGER REFERENCES assets (id), -- null where it looks at the whole listing
    kind          TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    label         TEXT    NOT NULL,
    is_mandatory     INTEGER NOT NULL CHECK (is_mandatory IN (0, 1)),
    is_informational INTEGER NOT NULL CHECK (is_informational IN (0, 1)),
    status        TEXT    NOT NULL
) STRICT;
CREATE INDEX quality_checks_by_run ON quality_checks (run);

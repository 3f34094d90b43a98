-- The difference between the clock of the market and that of the system, for markets that have one: at most one row.
CREATE TABLE clock_offset (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    micros INTEGER NOT NULL
) STRICT;

-- Which version of the program brought the schema to the number of a migration, so that a program that is too old can name
-- the version that is needed.
CREATE TABLE program_versions (
    migration INTEGER PRIMARY KEY, -- number of the last migration at that time
    version   TEXT    NOT NULL CHECK (length(version) > 0)
) STRICT;

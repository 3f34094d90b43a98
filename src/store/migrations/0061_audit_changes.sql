-- The audit keeps which fields of a record were changed, with their values before and after, as a JSON array of
-- [field, before, after]. Entries of earlier versions do not say it.
ALTER TABLE audit ADD COLUMN changes TEXT CHECK (json_valid(changes));

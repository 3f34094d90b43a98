-- Earlier versions do not keep which fields were changed.
ALTER TABLE audit DROP COLUMN changes;

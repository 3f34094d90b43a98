-- Uploads that teams make themselves in the web app, next to those of operators. They become an asset, or the data of one,
-- when they are complete. All columns are null for an upload of an operator.

ALTER TABLE operator_uploads ADD COLUMN kind TEXT; -- of the asset
ALTER TABLE operator_uploads ADD COLUMN asset BLOB CHECK (length(asset) = 16); -- that gets the data; null for a new one
ALTER TABLE operator_uploads ADD COLUMN title TEXT; -- of a new asset
ALTER TABLE operator_uploads ADD COLUMN exclusivity TEXT; -- of a new codebase
ALTER TABLE operator_uploads ADD COLUMN group_uuid BLOB CHECK (length(group_uuid) = 16); -- of a new asset; null for the default
ALTER TABLE operator_uploads ADD COLUMN modified_ms INTEGER; -- time of the file's last change in the browser, to know it again

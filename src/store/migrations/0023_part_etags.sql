-- Entity tags of the parts of the upload in their order (JSON), from before they are joined until the grant is used: a
-- request that completes the upload after an interruption must state the same ones.
ALTER TABLE upload_grants ADD COLUMN part_etags TEXT CHECK (json_valid(part_etags));

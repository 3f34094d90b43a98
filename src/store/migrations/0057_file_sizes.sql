-- Sizes of the files in linked data in bytes, in the order of its tree; NULL for data that was analyzed before. They say what a
-- sample has before anybody buys it.
ALTER TABLE data_structures ADD COLUMN file_sizes TEXT CHECK (file_sizes IS NULL OR json_valid(file_sizes));

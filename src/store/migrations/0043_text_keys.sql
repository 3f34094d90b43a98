-- Keys of text: `name_key` and `word_key` are the normalized text with its case folded (`equality_key`). The code of the
-- migration derives those that SQL cannot, which knows ASCII only. Of the groups of a team whose names have become the same,
-- the later ones keep theirs: `name_key` continues with a control character and the row ID.

-- The text in which the `contains` filter of the name looks; NULL if it is `name_key`. Rows are derived anew.
ALTER TABLE inventory ADD COLUMN search_key TEXT;
INSERT OR IGNORE INTO inventory_backlog (after_asset)
SELECT 0 WHERE EXISTS (SELECT 1 FROM inventory WHERE name_key GLOB '*[^ -~]*');
DELETE FROM inventory WHERE name_key GLOB '*[^ -~]*';

-- What filters compare with.
ALTER TABLE task_reading_words ADD COLUMN word_key TEXT NOT NULL DEFAULT '';
UPDATE task_reading_words SET word_key = lower(word);

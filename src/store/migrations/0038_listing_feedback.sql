-- What the platform told the vendor when it decided on a listing. Quality runs have the same text, but a listing can be
-- reviewed without one.
ALTER TABLE listings ADD COLUMN review_feedback TEXT; -- null once the listing is approved
UPDATE listings SET review_feedback = (
    SELECT r.review_feedback FROM quality_runs r WHERE r.listing = listings.id ORDER BY r.run_number DESC LIMIT 1)
WHERE review_status IN ('changes_requested', 'rejected');

-- What operators list: the queue of the review, and listings and assets by what identifies or classifies them.
CREATE INDEX listings_in_review ON listings (id) WHERE review_status = 'in_review';
CREATE INDEX listings_by_title ON listings (title);
CREATE INDEX assets_by_kind ON assets (kind) WHERE deleted_at IS NULL;
CREATE INDEX quality_runs_unfinished ON quality_runs (status) WHERE status IN ('queued', 'running');

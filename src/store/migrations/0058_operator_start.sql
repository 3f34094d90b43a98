-- What operators search for: names by how they begin, and what a request has done.
CREATE INDEX keys_by_name_start ON keys (name COLLATE NOCASE);
CREATE INDEX upload_grants_by_title_start ON upload_grants (title COLLATE NOCASE);
CREATE INDEX listings_by_title_start ON listings (title COLLATE NOCASE);
CREATE INDEX inventory_by_name_start ON inventory (name_key);
CREATE INDEX tasksets_by_name_start ON tasksets (name COLLATE NOCASE);
CREATE INDEX tasks_by_name_start ON tasks (name COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX opportunities_by_title_start ON opportunities (title COLLATE NOCASE);
CREATE INDEX webhooks_by_url_start ON webhooks (url COLLATE NOCASE) WHERE deleted_at IS NULL;
CREATE INDEX audit_by_request ON audit (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX events_by_request ON events (request_id) WHERE request_id IS NOT NULL;

-- What waits for operators, and what happened in the last days.
CREATE INDEX failing_webhook_deliveries ON webhook_deliveries (webhook)
    WHERE next_attempt_at IS NOT NULL AND failures > 0;
CREATE INDEX purchases_by_payment ON purchases (paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX teams_by_creation ON teams (created_at);
CREATE INDEX reviews_by_submission ON reviews (submitted_at);

-- Deadlines of published opportunities pass by a step.
INSERT INTO due_steps (kind, subject, due_at, is_migrated)
SELECT 'deadline_passes', id, deadline, 1 FROM opportunities WHERE status = 'published' AND deadline IS NOT NULL;

-- A team has one standing bid on an opportunity.
DROP INDEX project_bids_by_opportunity;
CREATE INDEX project_bids_by_opportunity ON project_bids (opportunity, team);

-- A team can have a limited number of pending estimations.
CREATE INDEX estimations_pending ON estimations (team) WHERE status = 'pending';

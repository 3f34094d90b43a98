-- Who was notified of an opportunity: such a team can read it in any status.
CREATE INDEX notifications_by_opportunity ON notifications (opportunity, team) WHERE opportunity IS NOT NULL;
CREATE INDEX notifications_by_project_opportunity ON notifications (project_opportunity, team)
    WHERE project_opportunity IS NOT NULL;

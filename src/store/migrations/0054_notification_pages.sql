-- The page of the web app that a notification leads to. What the API calls its link stays as it was.
ALTER TABLE notifications ADD COLUMN page TEXT;

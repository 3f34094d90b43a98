-- Through which event the outbox was trimmed. Events up to it are deleted, or about to be, and no request returns them.
CREATE TABLE trimmed_events (
    id      INTEGER PRIMARY KEY CHECK (id = 1), -- one row
    through INTEGER NOT NULL CHECK (through >= 0)
) STRICT;
INSERT INTO trimmed_events (id, through) VALUES (1, 0);
CREATE TRIGGER trimmed_events_stay BEFORE DELETE ON trimmed_events
BEGIN SELECT RAISE(ABORT, 'the place through which the outbox was trimmed stays'); END;
CREATE TRIGGER trimmed_events_grow BEFORE UPDATE ON trimmed_events
WHEN new.id <> old.id OR new.through < old.through
    OR new.through > (SELECT seq FROM sqlite_sequence WHERE name = 'events')
BEGIN SELECT RAISE(ABORT, 'the outbox is trimmed from its beginning, up to an event'); END;

-- Only the oldest events can be deleted.
CREATE TRIGGER events_kept BEFORE DELETE ON events WHEN old.id > (SELECT through FROM trimmed_events)
BEGIN SELECT RAISE(ABORT, 'only events before the place through which the outbox was trimmed are deleted'); END;

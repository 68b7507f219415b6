-- Whether the session's open turn asks a person something. No process continues it until the person has answered.
ALTER TABLE session ADD COLUMN asks_person INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_asks_person ON session (id) WHERE asks_person;

-- Whether the session's open turn asks a person something. No process continues it until the person has answered.
ALTER TABLE session ADD COLUMN IF NOT EXISTS asks_person boolean NOT NULL DEFAULT false;
CREATE INDEX IF NOT EXISTS session_asks_person ON session (id) WHERE asks_person;

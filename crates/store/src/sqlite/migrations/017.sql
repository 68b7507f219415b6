-- An entry that the session wrote lately: its last one, or one at most 1,023 entries of all sessions before that. The list of
-- the most recently active sessions is found by it. It is not set with every entry, because that is a page more to write.
ALTER TABLE session ADD COLUMN activity INTEGER NOT NULL DEFAULT 0;
UPDATE session
SET activity = coalesce((SELECT id FROM journal WHERE session_id = session.id ORDER BY seq DESC LIMIT 1), 0);
CREATE INDEX session_activity ON session (activity);

-- Whether the execution goes on: a process works on it, or has to take it over. The paused ones wait for people and only grow in
-- number.
ALTER TABLE execution ADD COLUMN working INTEGER NOT NULL DEFAULT 0;
UPDATE execution SET working = 1
WHERE coalesce(pause, '') NOT LIKE '{"state":"paused"%' AND plan_id IN (SELECT id FROM plan WHERE status = 'EXECUTING');
CREATE INDEX execution_working ON execution (plan_id) WHERE working;

-- The plans of all sessions by status, in the order of their last change. A draft is in no such list.
DROP INDEX plan_in_hand;
CREATE INDEX plan_status ON plan (status, updated_at, id) WHERE status <> 'COLLECTING';

-- The plans that may wait for a person, each with the time of its last change in microseconds.
CREATE TABLE waiting_plan (
    plan_id    TEXT    NOT NULL PRIMARY KEY,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX waiting_plan_changed ON waiting_plan (changed_at, plan_id);

-- What a search for sessions looks through, in small letters. It is little beside the sessions, so all of it is read fast.
CREATE TABLE session_text (
    session_id INTEGER PRIMARY KEY,
    text       TEXT NOT NULL
) STRICT;

-- Whether the program of an agent was ever started for the session. A person's decision is compared with these programs.
ALTER TABLE session ADD COLUMN has_agents INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_has_agents ON session (id) WHERE has_agents;

-- What the folder of each session has, where servers share files: a list of paths, and the pieces of files, found by their hash.
CREATE TABLE session_folder (
    session_id INTEGER NOT NULL PRIMARY KEY,
    folder     TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    lease      TEXT    NOT NULL,
    items      TEXT    NOT NULL
) STRICT;
CREATE TABLE file_piece (
    session_id INTEGER NOT NULL,
    hash       TEXT    NOT NULL,
    stored_at  INTEGER NOT NULL,
    content    BLOB    NOT NULL,
    PRIMARY KEY (session_id, hash)
) STRICT;

-- Which machines have the project folder that a session works in.
CREATE TABLE project_place (
    session_id INTEGER NOT NULL PRIMARY KEY,
    path       TEXT    NOT NULL,
    place      TEXT    NOT NULL
) STRICT;

-- How far each server has counted, by which the others notice that it died.
CREATE TABLE server_beat (
    owner  TEXT    NOT NULL PRIMARY KEY,
    beat   INTEGER NOT NULL,
    fences INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether the execution goes on: a process works on it, or has to take it over. The paused ones wait for people and only grow in
-- number.
ALTER TABLE execution ADD COLUMN IF NOT EXISTS working boolean NOT NULL DEFAULT false;
UPDATE execution SET working = true
WHERE coalesce(pause, '') NOT LIKE '{"state":"paused"%' AND plan_id IN (SELECT id FROM plan WHERE status = 'EXECUTING');
CREATE INDEX IF NOT EXISTS execution_working ON execution (plan_id) WHERE working;

-- The plans of all sessions by status, in the order of their last change. A draft is in no such list.
DROP INDEX IF EXISTS plan_in_hand;
CREATE INDEX IF NOT EXISTS plan_status ON plan (status, updated_at, id) WHERE status <> 'COLLECTING';

-- The plans that may wait for a person, each with the time of its last change in microseconds.
CREATE TABLE IF NOT EXISTS waiting_plan (
    plan_id    text   NOT NULL,
    changed_at bigint NOT NULL,
    CONSTRAINT waiting_plan_pkey PRIMARY KEY (plan_id)
);
CREATE INDEX IF NOT EXISTS waiting_plan_changed ON waiting_plan (changed_at, plan_id);

-- What a search for sessions looks through, in small letters. It is little beside the sessions, so all of it is read fast.
CREATE TABLE IF NOT EXISTS session_text (
    session_id bigint NOT NULL,
    text       text   NOT NULL,
    CONSTRAINT session_text_pkey PRIMARY KEY (session_id)
);

-- Whether the program of an agent was ever started for the session. A person's decision is compared with these programs.
ALTER TABLE session ADD COLUMN IF NOT EXISTS has_agents boolean NOT NULL DEFAULT false;
CREATE INDEX IF NOT EXISTS session_has_agents ON session (id) WHERE has_agents;

-- What the folder of each session has, where servers share files: a list of paths, and the pieces of files, found by their hash.
CREATE TABLE IF NOT EXISTS session_folder (
    session_id bigint NOT NULL,
    folder     text   NOT NULL,
    number     bigint NOT NULL,
    lease      text   NOT NULL,
    items      text   NOT NULL,
    CONSTRAINT session_folder_pkey PRIMARY KEY (session_id)
);
CREATE TABLE IF NOT EXISTS file_piece (
    session_id bigint NOT NULL,
    hash       text   COLLATE "C" NOT NULL,
    stored_at  bigint NOT NULL,
    content    bytea  NOT NULL,
    CONSTRAINT file_piece_pkey PRIMARY KEY (session_id, hash)
);

-- Which machines have the project folder that a session works in.
CREATE TABLE IF NOT EXISTS project_place (
    session_id bigint NOT NULL,
    path       text   NOT NULL,
    place      text   NOT NULL,
    CONSTRAINT project_place_pkey PRIMARY KEY (session_id)
);

-- How far each server has counted, by which the others notice that it died.
CREATE TABLE IF NOT EXISTS server_beat (
    owner  text   COLLATE "C" NOT NULL,
    beat   bigint NOT NULL,
    fences bigint NOT NULL,
    CONSTRAINT server_beat_pkey PRIMARY KEY (owner)
);

-- The oldest version of the schema whose programs work with this one: during a rolling upgrade both are there. It is a table of its
-- own because others that start now wait for a row of the table with the version.
CREATE TABLE IF NOT EXISTS planwright_compatibility (
    one    int NOT NULL,
    oldest int NOT NULL,
    CONSTRAINT planwright_compatibility_pkey PRIMARY KEY (one)
);

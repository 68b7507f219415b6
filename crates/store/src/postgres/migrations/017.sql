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

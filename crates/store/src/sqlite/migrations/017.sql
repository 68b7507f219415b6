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

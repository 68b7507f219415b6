-- What the journal says about each session. `seq` is the entry that changed it last.
CREATE TABLE session (
    id           INTEGER PRIMARY KEY,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    UNIQUE (conversation, channel)
) STRICT;

-- The truth. `body` is exactly what was hashed; `request` is set on the first entry that a request led to.
CREATE TABLE journal (
    id         INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES session (id),
    seq        INTEGER NOT NULL,
    plan_id    TEXT,
    request    TEXT,
    hash       BLOB    NOT NULL,
    body       TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_order ON journal (session_id, seq);
CREATE UNIQUE INDEX journal_request ON journal (request) WHERE request IS NOT NULL;

-- What the journal says about each plan, ready to be read. `seq` is the entry that changed it last.
CREATE TABLE plan (
    row_id     INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    session_id INTEGER NOT NULL REFERENCES session (id),
    number     INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    style      TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (session_id, number)
) STRICT;

-- Who works on a session now. Rows stay, so that the fence only ever grows.
CREATE TABLE lease (
    session_id INTEGER PRIMARY KEY REFERENCES session (id),
    owner      TEXT    NOT NULL,
    fence      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

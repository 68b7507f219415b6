-- Messages to people. A message is stored before it is sent. `outcome` is set once it is settled.
CREATE TABLE outbox (
    seq         INTEGER NOT NULL PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    channel     TEXT    NOT NULL,
    target      TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    due         INTEGER NOT NULL,
    retry_at    INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    taken_until INTEGER NOT NULL DEFAULT 0,
    settled_at  INTEGER,
    outcome     TEXT,
    why         TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (channel, target, seq) WHERE settled_at IS NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;

-- Which process receives the updates of a bot, and up to where it has.
CREATE TABLE chat_poller (
    bot         TEXT    NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,
    fence       INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    next_update INTEGER NOT NULL,
    received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Updates of chat services. A finished one is kept for a while without its body, so that it is not taken twice.
CREATE TABLE chat_update (
    bot     TEXT    NOT NULL,
    id      INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    session TEXT,
    done_at INTEGER,
    PRIMARY KEY (bot, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_update_pending ON chat_update (bot, id) WHERE done_at IS NULL;
CREATE INDEX chat_update_done ON chat_update (done_at) WHERE done_at IS NOT NULL;

-- Small records about chats: buttons, cards and what was asked.
CREATE TABLE chat_record (
    key      TEXT    NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    body     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- The scopes that have memories. `session_id` is the session whose journal has them, and 0 for the global scope. `items` and
-- `words` count what can be found; `last_position` is the position that was given last.
CREATE TABLE memory_scope (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL,
    scope         TEXT    NOT NULL,
    items         INTEGER NOT NULL,
    words         INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    UNIQUE (scope, session_id)
);
CREATE INDEX memory_scope_session ON memory_scope (session_id);

-- Every memory, also those that were forgotten and can be restored.
CREATE TABLE memory_item (
    number    INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE,
    scope_id  INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    forgotten INTEGER NOT NULL,
    body      TEXT    NOT NULL,
    UNIQUE (scope_id, position)
);

-- The terms of the memories that can be found. The scope comes first, so that a search costs what its own scopes have.
CREATE TABLE memory_posting (
    scope_id  INTEGER NOT NULL,
    term      TEXT    NOT NULL,
    position  INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    PRIMARY KEY (scope_id, term, position)
) WITHOUT ROWID;

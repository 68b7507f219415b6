-- The sessions that were chosen on a transport; the one with the highest number was chosen last. The others stay, so
-- that the choice before counts again once a session is deleted.
CREATE TABLE pointer (
    transport  TEXT    NOT NULL,
    session_id INTEGER NOT NULL REFERENCES session (id),
    used       INTEGER NOT NULL,
    PRIMARY KEY (transport, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pointer_session ON pointer (session_id);

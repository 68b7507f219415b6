-- The sessions that were chosen on a transport; the one with the highest number was chosen last. The others stay, so
-- that the choice before counts again once a session is deleted.
CREATE TABLE IF NOT EXISTS pointer (
    transport  text   NOT NULL,
    session_id bigint NOT NULL,
    used       bigint NOT NULL,
    CONSTRAINT pointer_pkey PRIMARY KEY (transport, session_id)
);
CREATE INDEX IF NOT EXISTS pointer_session ON pointer (session_id);

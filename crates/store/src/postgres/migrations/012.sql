-- The sessions that have schedules or runs that are not over. `due_at` is when the next schedule is due, `taken_until` until when a
-- process has taken the session to start its due runs; both in microseconds. `running` and `waits` say whether a run is under
-- way, and whether one waits for a person.
CREATE TABLE IF NOT EXISTS auto_session (
    session_id  bigint  NOT NULL,
    due_at      bigint,
    running     boolean NOT NULL,
    waits       boolean NOT NULL,
    taken_until bigint  NOT NULL,
    CONSTRAINT auto_session_pkey PRIMARY KEY (session_id)
);
CREATE INDEX IF NOT EXISTS auto_session_due ON auto_session (due_at, session_id) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS auto_session_running ON auto_session (session_id) WHERE running;
CREATE INDEX IF NOT EXISTS auto_session_waits ON auto_session (session_id) WHERE waits;

-- The sessions that have schedules or runs that are not over. `due_at` is when the next schedule is due, `taken_until` until when a
-- process has taken the session to start its due runs; both in microseconds. `running` and `waits` say whether a run is under
-- way, and whether one waits for a person.
CREATE TABLE auto_session (
    session_id  INTEGER NOT NULL PRIMARY KEY,
    due_at      INTEGER,
    running     INTEGER NOT NULL,
    waits       INTEGER NOT NULL,
    taken_until INTEGER NOT NULL
) STRICT;
CREATE INDEX auto_session_due ON auto_session (due_at, session_id) WHERE due_at IS NOT NULL;
CREATE INDEX auto_session_running ON auto_session (session_id) WHERE running;
CREATE INDEX auto_session_waits ON auto_session (session_id) WHERE waits;

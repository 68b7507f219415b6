-- Parts of `state` as columns, so that sessions can be found and counted by them: whether a turn is open, and whether
-- plan work is on.
ALTER TABLE session ADD COLUMN turn_open INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN planning INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_turn_open ON session (id) WHERE turn_open;
CREATE INDEX session_planning ON session (id) WHERE planning;

-- The plans that wait for a person or are worked on. The number of all others only grows.
CREATE INDEX plan_in_hand ON plan (status, session_id) WHERE status IN ('READY', 'APPROVED', 'EXECUTING', 'PARTIALLY_COMPLETED');

-- The sessions that were deleted last, for processes that follow them. Entries are numbered again from `journal_end` on.
CREATE TABLE deleted_session (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL,
    journal_end INTEGER NOT NULL
) STRICT;

-- What clients may send twice, and what they were answered.
CREATE TABLE claimed_request (
    key         TEXT    NOT NULL PRIMARY KEY,
    fingerprint TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    status      INTEGER,
    body        TEXT
) STRICT;
CREATE INDEX claimed_request_at ON claimed_request (at);

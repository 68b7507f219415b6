-- What a store of schema 4 has besides that of the schema before: columns of the sessions, pointers, a deleted session and requests that clients may send twice.
-- The program of schema 14 wrote these rows; they have the columns that schema 4 had.
UPDATE session SET turn_open = 1, planning = 1 WHERE id = 1;
UPDATE session SET planning = 1 WHERE id = 2;
INSERT INTO pointer (transport, session_id, used) VALUES
    ('telegram:1', 1, 2),
    ('telegram:1', 2, 1);
INSERT INTO deleted_session (id, name, journal_end) VALUES
    (1, 'web:deleted-one', 22);
INSERT INTO claimed_request (key, fingerprint, at, status, body) VALUES
    ('answered', 'asked', 1800000002000000, 201, '{"it''s":"żółć \u0000"}'),
    ('begun', 'asked', 1800000001000000, NULL, NULL);

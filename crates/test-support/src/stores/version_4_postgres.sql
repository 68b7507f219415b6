-- What a store of schema 4 has besides that of the schema before: columns of the sessions, pointers, a deleted session and requests that clients may send twice.
-- The program of schema 14 wrote these rows; they have the columns that schema 4 had.
UPDATE session SET turn_open = true, planning = true, written_at = '2026-11-17 02:13:16.583433+00' WHERE id = 1;
UPDATE session SET planning = true, written_at = '2026-11-17 02:13:16.583433+00' WHERE id = 2;
UPDATE session SET written_at = '2026-11-15 11:43:11.921409+00' WHERE id = 3;
INSERT INTO pointer (transport, session_id, used) VALUES
    ('telegram:1', 1, 2),
    ('telegram:1', 2, 1);
INSERT INTO deleted_session (id, channel, conversation, deleted_at) VALUES
    (1, 'web', 'deleted-one', '2026-11-17 02:13:17.417608+00');
ALTER TABLE deleted_session ALTER COLUMN id RESTART WITH 2;
INSERT INTO claimed_request (key, fingerprint, at, claim, status, body) VALUES
    ('answered', 'asked', 1800000002000000, 'e7f3bdb9c948036f-1', 201, E'\\x7b2269742773223a22c5bcc3b3c582c487205c7530303030227d'),
    ('begun', 'asked', 1800000001000000, 'e7f3bdb9c948036f-0', NULL, NULL);

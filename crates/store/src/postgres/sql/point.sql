-- The session's row is locked, so that it is not deleted meanwhile.
WITH held AS (
    SELECT id FROM session WHERE conversation = $2 AND channel = $3 FOR UPDATE
)
INSERT INTO pointer (transport, session_id, used)
SELECT $1, id, 1 + coalesce((SELECT max(used) FROM pointer WHERE transport = $1), 0) FROM held
ON CONFLICT (transport, session_id) DO UPDATE SET used = excluded.used
RETURNING used

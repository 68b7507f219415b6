WITH due AS (
    SELECT session_id FROM auto_session
    WHERE due_at IS NOT NULL AND due_at <= $1 AND taken_until <= $1
    ORDER BY due_at, session_id LIMIT $3 FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE auto_session SET taken_until = $2 FROM due WHERE auto_session.session_id = due.session_id
    RETURNING auto_session.session_id, auto_session.due_at
)
SELECT session.channel, session.conversation FROM taken JOIN session ON session.id = taken.session_id
ORDER BY taken.due_at, taken.session_id

INSERT INTO auto_session (session_id, due_at, running, waits, taken_until)
SELECT new.session_id, new.due_at, new.running, new.waits, 0
FROM UNNEST($1::bigint[], $2::bigint[], $3::boolean[], $4::boolean[]) AS new (session_id, due_at, running, waits)
ON CONFLICT (session_id) DO UPDATE SET
    taken_until = CASE WHEN auto_session.due_at IS NOT DISTINCT FROM excluded.due_at THEN auto_session.taken_until ELSE 0 END,
    due_at = excluded.due_at, running = excluded.running, waits = excluded.waits

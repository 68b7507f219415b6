SELECT id, session_id, number, body FROM plan WHERE id = ANY($1::text[])

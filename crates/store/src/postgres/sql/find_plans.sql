SELECT id, session_id, number, status, style, title, body FROM plan WHERE id = ANY($1::text[])

INSERT INTO session_text (session_id, text)
SELECT * FROM UNNEST($1::bigint[], $2::text[])
ON CONFLICT (session_id) DO UPDATE SET text = excluded.text

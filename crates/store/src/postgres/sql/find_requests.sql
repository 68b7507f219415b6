SELECT request, session_id, seq FROM journal WHERE request = ANY($1::text[])

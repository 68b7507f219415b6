DELETE FROM auto_session WHERE session_id = ANY($1::bigint[])

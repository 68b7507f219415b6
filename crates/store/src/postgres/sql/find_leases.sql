SELECT session_id, owner, fence FROM lease WHERE session_id = ANY($1::bigint[])

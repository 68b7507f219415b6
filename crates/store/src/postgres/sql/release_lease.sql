UPDATE lease SET expires_at = clock_timestamp()
FROM session
WHERE session.conversation = $1 AND session.channel = $2 AND lease.session_id = session.id
    AND lease.owner = $3 AND lease.fence = $4

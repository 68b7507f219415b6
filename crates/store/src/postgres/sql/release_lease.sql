UPDATE lease SET expires_at = to_timestamp(0)
FROM session
WHERE session.conversation = $1 AND session.channel = $2 AND lease.session_id = session.id
    AND lease.owner = $3 AND lease.fence = $4

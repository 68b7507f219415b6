-- One that was given back has run out long ago.
UPDATE lease SET expires_at = clock_timestamp() + interval '1 microsecond' * $5::float8
FROM session
WHERE session.conversation = $1 AND session.channel = $2 AND lease.session_id = session.id
    AND lease.owner = $3 AND lease.fence = $4 AND lease.expires_at > to_timestamp(0)
RETURNING fence

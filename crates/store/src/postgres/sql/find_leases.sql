-- The leases of these sessions. Read once their rows are locked, so that no other process takes one of them.
SELECT lease.session_id, lease.owner, lease.fence, lease.expires_at > clock_timestamp() AS running
FROM session
JOIN UNNEST($1::text[], $2::text[]) AS wanted (channel, conversation)
    ON session.conversation = wanted.conversation AND session.channel = wanted.channel
JOIN lease ON lease.session_id = session.id

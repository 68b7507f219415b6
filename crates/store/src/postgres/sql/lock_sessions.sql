-- Sessions that another transaction holds are left out: they must not hold up the others.
SELECT session.id, session.channel, session.conversation, session.head_seq, session.head_hash, session.state
FROM session
JOIN UNNEST($1::text[], $2::text[]) AS wanted (channel, conversation)
    ON session.conversation = wanted.conversation AND session.channel = wanted.channel
ORDER BY session.id
FOR UPDATE OF session SKIP LOCKED

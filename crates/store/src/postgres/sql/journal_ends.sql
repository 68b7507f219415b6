-- Which of these sessions exist, and where their journals end. Asked once their rows are locked, so that no other
-- transaction is adding to a session that is locked here.
SELECT session.id AS session_id, session.channel, session.conversation, journal.seq, journal.hash
FROM session
JOIN UNNEST($1::text[], $2::text[]) AS wanted (channel, conversation)
    ON session.conversation = wanted.conversation AND session.channel = wanted.channel
LEFT JOIN journal ON journal.session_id = session.id
    AND journal.seq = (SELECT max(seq) FROM journal WHERE session_id = session.id)

-- Where the journals of these sessions really end. Asked once their rows are locked, so that nobody is adding to them.
SELECT journal.session_id, journal.seq, journal.hash
FROM session
JOIN UNNEST($1::text[], $2::text[]) AS wanted (channel, conversation)
    ON session.conversation = wanted.conversation AND session.channel = wanted.channel
JOIN journal ON journal.session_id = session.id
    AND journal.seq = (SELECT max(seq) FROM journal WHERE session_id = session.id)

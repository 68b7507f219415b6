-- All entries that one request led to: from its first one up to the first one of the next request.
SELECT seq, body
FROM journal
WHERE session_id = $1 AND seq >= $2 AND seq < coalesce(
    (SELECT seq FROM journal WHERE session_id = $1 AND seq > $2 AND request IS NOT NULL ORDER BY seq LIMIT 1),
    9223372036854775807
)
ORDER BY seq

SELECT seq, body
FROM journal
WHERE plan_id = $1 AND version = $2
    AND session_id = (SELECT id FROM session WHERE conversation = $3 AND channel = $4)
LIMIT 1

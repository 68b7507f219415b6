-- The plus sign keeps SQLite from reading the whole journal of the session.
SELECT seq, body FROM journal
WHERE session_id = (SELECT id FROM session WHERE conversation = ?3 AND channel = ?4)
    AND seq >= (SELECT seq FROM journal
        WHERE plan_id = ?1 AND version = ?5 AND (version <= 32 OR version % 32 = 0)
            AND +session_id = (SELECT id FROM session WHERE conversation = ?3 AND channel = ?4) LIMIT 1)
    AND plan_id = ?1 AND version = ?2
ORDER BY seq LIMIT 1

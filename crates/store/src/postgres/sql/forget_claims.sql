DELETE FROM claimed_request WHERE key IN (
    SELECT key FROM claimed_request WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED
)

-- The session's row is locked, so that a write under the lease that runs out is either before this or refused.
-- A new owner, or one whose lease expired, gets the next fence.
WITH held AS (
    SELECT id FROM session WHERE conversation = $1 AND channel = $2 FOR UPDATE
)
INSERT INTO lease (session_id, owner, fence, expires_at)
SELECT id, $3, 1, clock_timestamp() + interval '1 microsecond' * $4::float8 FROM held
ON CONFLICT (session_id) DO UPDATE SET
    fence = lease.fence + CASE
        WHEN lease.owner = excluded.owner AND lease.expires_at > clock_timestamp() THEN 0 ELSE 1
    END,
    owner = excluded.owner,
    expires_at = clock_timestamp() + interval '1 microsecond' * $4::float8
WHERE lease.owner = excluded.owner OR lease.expires_at <= clock_timestamp()
RETURNING fence

-- What became of the leases of sessions whose rows are locked; a lease that runs for no time was given back.
INSERT INTO lease (session_id, owner, fence, expires_at)
SELECT session_id, owner, fence,
    CASE WHEN micros > 0 THEN clock_timestamp() + interval '1 microsecond' * micros ELSE to_timestamp(0) END
FROM UNNEST($1::bigint[], $2::text[], $3::bigint[], $4::float8[]) AS new (session_id, owner, fence, micros)
ON CONFLICT (session_id) DO UPDATE SET
    owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at

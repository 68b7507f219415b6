INSERT INTO journal (session_id, seq, plan_id, request, version, body, hash)
SELECT * FROM UNNEST($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[])

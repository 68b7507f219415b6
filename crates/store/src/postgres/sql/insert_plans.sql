INSERT INTO plan (id, session_id, number, status, style, title, body, updated_at)
SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])

INSERT INTO step_run (plan_id, position, body)
SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::text[])
ON CONFLICT (plan_id, position) DO UPDATE SET body = excluded.body

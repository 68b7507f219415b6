INSERT INTO execution (plan_id, steps, updated_at)
SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::text[])
ON CONFLICT (plan_id) DO UPDATE SET steps = excluded.steps, updated_at = excluded.updated_at

INSERT INTO waiting_plan (plan_id, changed_at)
SELECT * FROM UNNEST($1::text[], $2::bigint[])
ON CONFLICT (plan_id) DO UPDATE SET changed_at = excluded.changed_at

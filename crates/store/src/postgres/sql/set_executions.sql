INSERT INTO execution (plan_id, steps, updated_at, pause, working)
SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::text[], $4::text[], $5::boolean[])
ON CONFLICT (plan_id) DO UPDATE SET
    steps = excluded.steps, updated_at = excluded.updated_at, pause = excluded.pause, working = excluded.working

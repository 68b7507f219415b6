DELETE FROM step_run WHERE plan_id = ANY($1::text[])

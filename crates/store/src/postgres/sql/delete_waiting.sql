DELETE FROM waiting_plan WHERE plan_id = ANY($1::text[])

SELECT plan.id, plan.session_id, plan.number, plan.status, plan.style, plan.title, plan.body,
    execution.steps, execution.updated_at AS changed_at, execution.pause,
    ARRAY(SELECT position FROM step_run WHERE plan_id = plan.id ORDER BY position) AS positions,
    ARRAY(SELECT body FROM step_run WHERE plan_id = plan.id ORDER BY position) AS runs
FROM plan LEFT JOIN execution ON execution.plan_id = plan.id
WHERE plan.id = ANY($1::text[])

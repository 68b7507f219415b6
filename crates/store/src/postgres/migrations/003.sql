-- How each step of a plan's latest execution went. They are beside the plan, because each of them changes on its own.
CREATE TABLE IF NOT EXISTS step_run (
    plan_id  text   NOT NULL,
    position bigint NOT NULL,
    body     text   NOT NULL,
    CONSTRAINT step_run_pkey PRIMARY KEY (plan_id, position)
);

-- Every plan that has an execution: how many steps that has, and when the plan changed last, to the nanosecond.
CREATE TABLE IF NOT EXISTS execution (
    plan_id    text   NOT NULL,
    steps      bigint NOT NULL,
    updated_at text   NOT NULL,
    CONSTRAINT execution_pkey PRIMARY KEY (plan_id)
);

-- How each step of a plan's latest execution went. They are beside the plan, because each of them changes on its own.
CREATE TABLE step_run (
    plan_id  TEXT    NOT NULL REFERENCES plan (id),
    position INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (plan_id, position)
) STRICT, WITHOUT ROWID;

-- Every plan that has an execution: how many steps that has, the entry that changed the plan last, and when that was.
CREATE TABLE execution (
    plan_id    TEXT    NOT NULL PRIMARY KEY REFERENCES plan (id),
    steps      INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    updated_at TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

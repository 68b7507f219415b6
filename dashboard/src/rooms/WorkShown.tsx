import type { ReactNode } from "react";

import type { Goal, Task } from "../api/types";
import { t } from "../texts/t";
import { Visible } from "../ui/hidden";

/** The words of a goal and of a task, whole: what the agent reads, and what an approver signs. */
export function WorkShown({ goal, task }: { goal?: Goal | undefined; task?: Task | undefined }): ReactNode {
  return (
    <dl className="work-shown">
      {goal && <Words name={t("goal.number", { n: goal.number })} title={goal.title} note={goal.note} />}
      {task && <Words name={t("task.number", { n: task.number })} title={task.title} note={task.note} />}
    </dl>
  );
}

function Words({ name, title, note }: { name: string; title: string; note: string | null }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">
        <Visible text={title} />
        {note !== null && (
          <p className="secondary">
            <Visible text={note} />
          </p>
        )}
      </dd>
    </div>
  );
}

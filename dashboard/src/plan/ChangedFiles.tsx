import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { planChangesQuery, undoPlan } from "../api/changes";
import { newId } from "../api/newId";
import type { Plan, PlanChanges, Undo, Undone } from "../api/types";
import { Confirm } from "../rooms/parts";
import { sessionIdOf } from "../session/id";
import { t } from "../texts/t";
import { Banner, Button, Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { FileDiffs } from "./FileDiffs";

/** What a plan changed in files, as a whole or by step, and how to put it back. */
export function ChangedFiles({ plan }: { plan: Plan }): ReactNode {
  const changes = useQuery(planChangesQuery(plan.id));
  const [isBySteps, setBySteps] = useState(false);
  if (changes.isError) return <Failure error={changes.error} retry={() => void changes.refetch()} />;
  if (changes.isPending) return <Loading />;
  const { files, steps, uncovered, undone } = changes.data;
  return (
    <section className="changed-files" aria-label={t("files.changed")}>
      <header className="room-section-head">
        <h2>{t("files.changed")}</h2>
        <span className="secondary">{t("files.count", { count: files.length })}</span>
        {steps.length > 1 && (
          <div className="segments" role="group" aria-label={t("files.arrange")}>
            <button type="button" aria-pressed={!isBySteps} onClick={() => setBySteps(false)}>
              {t("files.asWhole")}
            </button>
            <button type="button" aria-pressed={isBySteps} onClick={() => setBySteps(true)}>
              {t("files.bySteps")}
            </button>
          </div>
        )}
        {files.length > 0 && <UndoPlan plan={plan} changes={changes.data} step={undefined} />}
      </header>
      {files.length === 0 && <p className="secondary">{undone.length > 0 ? t("files.allUndone") : t("files.noneByPlan")}</p>}
      {isBySteps
        ? steps.map((step) => (
            <div key={step.stepId ?? ""} className="changed-step">
              <header className="room-section-head">
                <h3>
                  {step.step === null ? t("files.outside") : t("step.number", { n: step.step })} <Visible text={step.description} />
                </h3>
                {step.step !== null && step.files.length > 0 && <UndoPlan plan={plan} changes={changes.data} step={step.step} />}
              </header>
              <FileDiffs files={step.files} />
            </div>
          ))
        : files.length > 0 && <FileDiffs files={files} />}
      <NotCovered paths={[...uncovered.added, ...uncovered.changed, ...uncovered.removed]} isComplete={uncovered.complete} />
      <UndoneList undone={undone} />
    </section>
  );
}

/** What commands changed was not kept. */
export function NotCovered({ paths, isComplete }: { paths: readonly string[]; isComplete: boolean }): ReactNode {
  if (paths.length === 0 && isComplete) return null;
  return (
    <Banner tone="quiet" icon="warning">
      {paths.length > 0 && t("files.uncovered")} {!isComplete && t("files.incomplete")}
      <ul className="plain-list">
        {paths.map((path) => (
          <li key={path}>
            <code>
              <Visible text={path} />
            </code>
          </li>
        ))}
      </ul>
    </Banner>
  );
}

export function UndoneList({ undone }: { undone: readonly Undone[] }): ReactNode {
  return undone.map((one, index) => (
    <Banner key={index} tone="quiet" icon="back">
      {t("files.undone", { name: visible(one.by.name), count: one.paths.length })} <Time at={one.at} />
      <ul className="plain-list">
        {one.paths.map((path) => (
          <li key={path}>
            <code>
              <Visible text={path} />
            </code>
          </li>
        ))}
        {one.notUndone.map(({ path, why }) => (
          <li key={path}>
            <code>
              <Visible text={path} />
            </code>{" "}
            <span className="problem">
              <Visible text={why} />
            </span>
          </li>
        ))}
      </ul>
    </Banner>
  ));
}

/** Says what an undo did. */
export function sayUndone({ paths, notUndone }: Undo): void {
  const left = notUndone.map(({ path, why }) => `${visible(path)}: ${why}`).join(" ");
  if (notUndone.length > 0) say(t("files.sayPartly", { count: paths.length, left }), { tone: "failed", for: 20_000 });
  else say(t("files.sayUndone", { count: paths.length }), { tone: "done" });
}

function UndoPlan({ plan, changes, step }: { plan: Plan; changes: PlanChanges; step: number | undefined }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState(newId);
  const client = useQueryClient();
  const files = step === undefined ? changes.files : (changes.steps.find((one) => one.step === step)?.files ?? []);
  const act = async () => {
    const done = await undoPlan(plan.id, step, key);
    setKey(newId());
    void client.invalidateQueries({ queryKey: ["plan", plan.id] });
    void client.invalidateQueries({ queryKey: ["changes", sessionIdOf(plan)] });
    sayUndone(done);
  };
  return (
    <>
      <Button icon="back" onClick={() => setAsking(true)}>
        {step === undefined ? t("files.undoPlan") : t("files.undoStep", { n: step })}
      </Button>
      {isAsking && (
        <Confirm title={step === undefined ? t("files.askUndoPlan", { n: plan.number }) : t("files.askUndoStep", { n: step })} button={t("files.undoSend", { count: files.length })} danger act={act} onClose={() => setAsking(false)}>
          <p>{t("files.undoWords")}</p>
          <ul className="plain-list">
            {files.map((file) => (
              <li key={file.path}>
                <code>
                  <Visible text={file.path} />
                </code>
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </>
  );
}

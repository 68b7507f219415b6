import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { sessionChangesQuery, undoTurn } from "../api/changes";
import { newId } from "../api/newId";
import { planControlQuery } from "../api/queries";
import type { SessionChanges } from "../api/types";
import { useFollowSession } from "../live/useLive";
import { NotCovered, sayUndone, UndoneList } from "../plan/ChangedFiles";
import { FileDiffs } from "../plan/FileDiffs";
import { ListedState } from "../plan/ListedState";
import { FileBrowser } from "../rooms/FileBrowser";
import { Confirm, RoomSection } from "../rooms/parts";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Button, Failure, Loading, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";

/** The session's files, and what was changed in them. */
export function FilesRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  useFollowSession(session);
  return (
    <div className="room">
      <div className="room-column">
        <Changes session={session} />
        <PlansWithFiles session={session} />
        <FileBrowser session={session} />
      </div>
    </div>
  );
}

function Changes({ session }: { session: SessionId }): ReactNode {
  const changes = useQuery(sessionChangesQuery(session));
  const [isByTurns, setByTurns] = useState(false);
  if (changes.isError) return <Failure error={changes.error} retry={() => void changes.refetch()} />;
  if (changes.isPending) return <Loading />;
  const { files, turns, uncovered, undone } = changes.data;
  return (
    <RoomSection
      title={t("files.bySession")}
      about={t("files.count", { count: files.length })}
      action={
        <>
          {turns.length > 1 && (
            <div className="segments" role="group" aria-label={t("files.arrange")}>
              <button type="button" aria-pressed={!isByTurns} onClick={() => setByTurns(false)}>
                {t("files.asWhole")}
              </button>
              <button type="button" aria-pressed={isByTurns} onClick={() => setByTurns(true)}>
                {t("files.byTurns")}
              </button>
            </div>
          )}
          {turns.length > 0 && <UndoTurn session={session} changes={changes.data} />}
        </>
      }
    >
      {files.length === 0 && <p className="secondary">{undone.length > 0 ? t("files.allUndone") : t("files.noneBySession")}</p>}
      {isByTurns
        ? turns.map((turn) => (
            <div key={turn.turnId} className="changed-step">
              <h3>
                <Visible text={turn.text} /> <Time at={turn.at} />
              </h3>
              <FileDiffs files={turn.files} />
            </div>
          ))
        : files.length > 0 && <FileDiffs files={files} />}
      <NotCovered paths={[...uncovered.added, ...uncovered.changed, ...uncovered.removed]} isComplete={uncovered.complete} />
      <UndoneList undone={undone} />
    </RoomSection>
  );
}

function UndoTurn({ session, changes }: { session: SessionId; changes: SessionChanges }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState(newId);
  const client = useQueryClient();
  const last = [...changes.turns].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).at(-1);
  if (!last) return null;
  return (
    <>
      <Button icon="back" onClick={() => setAsking(true)}>
        {t("files.undoTurn")}
      </Button>
      {isAsking && (
        <Confirm
          title={t("files.askUndoTurn")}
          button={t("files.undoSend", { count: last.files.length })}
          danger
          onClose={() => setAsking(false)}
          act={async () => {
            const done = await undoTurn(session, key);
            setKey(newId());
            void client.invalidateQueries({ queryKey: ["changes", session] });
            sayUndone(done);
          }}
        >
          <p>{t("files.undoWords")}</p>
          <blockquote className="quoted">
            <Visible text={last.text} />
          </blockquote>
          <ul className="plain-list">
            {last.files.map((file) => (
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

/** Plans keep their own changes. */
function PlansWithFiles({ session }: { session: SessionId }): ReactNode {
  const control = useQuery(planControlQuery(session));
  const begun = (control.data?.plans ?? []).filter((plan) => ["EXECUTING", "COMPLETED", "PARTIALLY_COMPLETED", "CANCELLED"].includes(plan.status));
  if (begun.length === 0) return null;
  return (
    <RoomSection title={t("files.byPlans")}>
      <ul className="rows">
        {begun.map((plan) => (
          <li key={plan.id} className="row">
            <ListedState plan={plan} />
            <div className="row-main">
              <Link to="/p/$plan" params={{ plan: plan.id }} search={{ view: "files" }}>
                {t("plan.short", { n: plan.number })} <Visible text={plan.title} />
              </Link>
            </div>
            <Time at={plan.updatedAt} />
          </li>
        ))}
      </ul>
    </RoomSection>
  );
}

import * as Tabs from "@radix-ui/react-tabs";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { workbookQuery } from "../api/queries";
import type { WorkbookDocument } from "../api/types";
import { Markdown } from "../markdown/Markdown";
import { WorkbookEditor } from "../rooms/WorkbookEditor";
import type { SessionId } from "../session/id";
import { t, type TextKey } from "../texts/t";
import { Button, Empty, Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";

/** The agent's notes beside the conversation. */
export function WorkbookRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  const workbook = useQuery(workbookQuery(session));
  if (workbook.isPending) return <Loading />;
  if (workbook.isError) return <Failure error={workbook.error} retry={() => void workbook.refetch()} />;
  const { current, archives, on } = workbook.data;
  return (
    <div className="room">
      {current === null ? (
        <Empty title={t("workbook.none")}>
          <p>{on ? t("workbook.on") : t("workbook.off")}</p>
        </Empty>
      ) : (
        <Tabs.Root defaultValue={current.documents[0]?.which ?? "task_plan"}>
          <Tabs.List className="segments" aria-label={t("rooms.workbook")}>
            {current.documents.map((document) => (
              <Tabs.Trigger key={document.which} value={document.which}>
                {t(`workbook.${document.which}` as TextKey)}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {current.documents.map((document) => (
            <Tabs.Content key={document.which} value={document.which} className="workbook-page">
              <DocumentPage session={session} document={document} />
            </Tabs.Content>
          ))}
        </Tabs.Root>
      )}
      {archives.length > 0 && (
        <section>
          <h2>{t("workbook.archives")}</h2>
          <ul className="plain-list">
            {archives.map((archive) => (
              <li key={archive.name}>
                <Visible text={archive.title} /> <span className="secondary">{archive.name}</span> <Time at={archive.at} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function DocumentPage({ session, document }: { session: SessionId; document: WorkbookDocument }): ReactNode {
  const [isEditing, setEditing] = useState(false);
  if (isEditing) return <WorkbookEditor session={session} document={document} onClose={() => setEditing(false)} />;
  return (
    <>
      <div className="workbook-head">
        <p className="secondary">
          {t("plan.version", { n: document.version })} · {t("workbook.by", { by: visible(document.by) })} · <Time at={document.updatedAt} />
        </p>
        <Button icon="edit" onClick={() => setEditing(true)}>
          {t("workbook.edit")}
        </Button>
      </div>
      <Markdown text={document.markdown} />
    </>
  );
}

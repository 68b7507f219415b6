import { useQueryClient } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";

import { acceptToolsAct } from "../api/acts";
import { acceptTools } from "../api/decisions";
import { newId } from "../api/newId";
import type { InboxItem } from "../api/types";
import { useSigning } from "../approval/useSigning";
import { t } from "../texts/t";
import { Banner, Button, errorWords } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { inboxTitle } from "./inboxItems";

/** Tools of an MCP server that a person has not accepted, and the acceptance of exactly these. */
export function ToolChangeDetail({ item, change }: { item: InboxItem; change: NonNullable<InboxItem["toolChange"]> }): ReactNode {
  const client = useQueryClient();
  const key = useRef(newId());
  const signing = useSigning(item.require, "tools");
  const accept = () =>
    void signing.begin({
      title: t("sign.tools", { server: change.server }),
      send: t("toolChange.accept"),
      act: acceptToolsAct(change.server, item.digest),
      perform: async (proof) => {
        try {
          await acceptTools(change.server, item.digest, key.current, proof);
          say(t("toolChange.accepted", { server: change.server }), { tone: "done" });
        } catch (problem) {
          key.current = newId();
          throw problem;
        } finally {
          void client.invalidateQueries({ queryKey: ["inbox"] });
        }
      },
    });
  return (
    <>
      <header className="inbox-detail-head">
        <div className="page-about">
          <span>{inboxTitle(item)}</span>
        </div>
        <h2 dir="auto">
          <Visible text={item.title} />
        </h2>
      </header>
      <div className="inbox-detail-body">
        <p>{t("toolChange.why")}</p>
        {/* The server has written hidden characters out already. */}
        <pre className="ask-call whole" aria-label={t("toolChange.difference")} tabIndex={0}>
          {change.difference}
        </pre>
      </div>
      <section className="decision" aria-label={t("ask.choose")}>
        {signing.problem !== undefined && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(signing.problem) })}</Banner>}
        {signing.note}
        <div className="decision-row">
          <div className="decision-buttons">
            <Button look="primary" busy={signing.busy} onClick={accept}>
              {t("toolChange.accept")}
            </Button>
          </div>
        </div>
        {signing.dialog}
      </section>
    </>
  );
}

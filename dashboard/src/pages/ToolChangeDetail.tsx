import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";

import { acceptTools } from "../api/decisions";
import { newId } from "../api/newId";
import type { InboxItem } from "../api/types";
import { useVerification } from "../approval/ApproverFields";
import { forgetWrong } from "../approval/remembered";
import { t } from "../texts/t";
import { Banner, Button, errorWords } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { inboxTitle } from "./inboxItems";

/** Tools of an MCP server that a person has not accepted, and the acceptance of exactly these. */
export function ToolChangeDetail({ item, change }: { item: InboxItem; change: NonNullable<InboxItem["toolChange"]> }): ReactNode {
  const client = useQueryClient();
  const key = useRef(newId());
  const verification = useVerification(item.require);
  const accept = useMutation({
    mutationFn: () => acceptTools(change.server, item.digest, key.current, verification.entry),
    onSuccess: () => {
      verification.accepted();
      say(t("toolChange.accepted", { server: change.server }), { tone: "done" });
    },
    onError: (problem) => {
      forgetWrong(problem);
      key.current = newId();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["inbox"] }),
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
        {accept.isError && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(accept.error) })}</Banner>}
        {verification.fields}
        <div className="decision-row">
          <div className="decision-buttons">
            <Button look="primary" off={verification.off} busy={accept.isPending} onClick={() => accept.mutate()}>
              {t("toolChange.accept")}
            </Button>
          </div>
        </div>
      </section>
    </>
  );
}

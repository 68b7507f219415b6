import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { approversQuery } from "../api/queries";
import { t } from "../texts/t";
import { Button, errorWords, Loading } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { ApproverFields, useApproverEntry, type ApproverEntry } from "./ApproverFields";
import { canUsePasskeys, worksHere } from "./passkeys";

/** The person shows who they are before an approval is sent: with a passkey, or with their passphrase. */
export function VerifyDialog({
  title,
  words,
  send,
  passkey: passkeyWords = t("verify.passkey"),
  busy,
  problem,
  onPassphrase,
  onPasskey,
  onClose,
  children,
}: {
  title: string;
  words: string;
  /** What the button says. */
  send: string;
  /** What the button of the passkey says. */
  passkey?: string;
  busy: boolean;
  problem: unknown;
  onPassphrase: (entry: ApproverEntry) => void;
  /** Answers when the passkey has signed, or when the person did not want to. */
  onPasskey: (approver: string) => Promise<void>;
  onClose: () => void;
  /** What is signed. */
  children?: ReactNode;
}): ReactNode {
  const query = useQuery(approversQuery);
  const approvers = query.data?.approvers ?? [];
  const [entry, setEntry] = useApproverEntry(approvers);
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const own = approvers.find((approver) => approver.name === entry.approver)?.passkeys ?? [];
  const here = canUsePasskeys() ? own.filter((passkey) => worksHere(passkey)) : [];
  const wrong = failed ?? problem;

  async function passkey(): Promise<void> {
    setAsking(true);
    setFailed(undefined);
    try {
      await onPasskey(entry.approver);
    } catch (error) {
      setFailed(error);
    } finally {
      setAsking(false);
    }
  }

  return (
    <Dialog open onClose={onClose} title={title} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          if (entry.passphrase !== "" && !busy) onPassphrase(entry);
        }}
      >
        <p>{words}</p>
        {children}
        {query.isPending && <Loading />}
        {query.isSuccess && approvers.length === 0 && <p role="alert">{t("verify.none")}</p>}
        {approvers.length > 0 && <ApproverFields approvers={approvers} entry={entry} onChange={setEntry} autoFocus={here.length === 0} />}
        {wrong !== undefined && (
          <p className="problem" role="alert">
            {errorWords(wrong)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          {here.length > 0 && (
            <Button look={entry.passphrase === "" ? "primary" : "plain"} icon="person" busy={asking || busy} autoFocus onClick={() => void passkey()}>
              {passkeyWords}
            </Button>
          )}
          {approvers.length > 0 && (
            <Button type="submit" look={here.length === 0 || entry.passphrase !== "" ? "primary" : "plain"} off={entry.passphrase === "" ? t("verify.offEmpty") : undefined} busy={busy}>
              {send}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

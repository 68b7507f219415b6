import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { addPasskey, removePasskey, seeChanges } from "../api/decisions";
import { approversQuery } from "../api/queries";
import type { Approver, Approvers, Passkey } from "../api/types";
import { t } from "../texts/t";
import { Button, errorWords, Time } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { EnrolDialog } from "./EnrolOffer";
import { canUsePasskeys, createPasskey } from "./passkeys";

type Asking = { kind: "add"; approver: Approver } | { kind: "remove"; approver: Approver; passkey: Passkey };

/** Who may approve, with which passkeys, and how this browser is recognised. */
export function ApproversSection(): ReactNode {
  const query = useQuery(approversQuery);
  const [asking, setAsking] = useState<Asking>();
  const [isEnrolling, setEnrolling] = useState(false);
  const found = query.data;
  if (!found) return null;
  return (
    <section>
      <h2>{t("settings.approvers")}</h2>
      <p className="secondary">{t(`settings.require.${found.require as "any"}`)}</p>
      <p className="secondary">{t(found.presence === "browser" ? "settings.presence.browser" : "settings.presence.token")}</p>
      {found.changes.length > 0 && <Changes found={found} />}
      {found.approvers.length === 0 && (
        <>
          <p className="secondary">{t("settings.noApprovers")}</p>
          <Button onClick={() => setEnrolling(true)}>{t("enrol.start")}</Button>
        </>
      )}
      {isEnrolling && <EnrolDialog onClose={() => setEnrolling(false)} />}
      {found.approvers.length > 0 && !canUsePasskeys() && <p className="secondary">{t("settings.passkeysByName", { address: `http://localhost:${location.port}` })}</p>}
      <ul className="approvers">
        {found.approvers.map((approver) => (
          <li key={approver.name}>
            <div className="approver-head">
              <strong>{approver.name}</strong>
              {canUsePasskeys() && <Button onClick={() => setAsking({ kind: "add", approver })}>{t("settings.addPasskey")}</Button>}
            </div>
            {approver.passkeys.map((passkey) => (
              <div key={passkey.id} className="approver-passkey">
                <span>
                  <Visible text={passkey.label} /> <span className="secondary">{t("settings.passkeyFor", { host: passkey.relyingParty })}</span> <Time at={passkey.addedAt} />
                </span>
                <Button look="danger" onClick={() => setAsking({ kind: "remove", approver, passkey })}>
                  {t("settings.removePasskey", { label: passkey.label })}
                </Button>
              </div>
            ))}
          </li>
        ))}
      </ul>
      {asking && <PasskeyDialog key={asking.kind} asking={asking} onClose={() => setAsking(undefined)} />}
    </section>
  );
}

/** What was changed about who may decide since a person looked last. */
export function Changes({ found }: { found: Approvers }): ReactNode {
  const client = useQueryClient();
  const last = found.changes.at(-1);
  const see = useMutation({
    mutationFn: () => seeChanges(last?.at ?? ""),
    onSuccess: (changed) => client.setQueryData(approversQuery.queryKey, changed),
  });
  return (
    <div className="approver-changes" role="status">
      <h3>{t("settings.changes")}</h3>
      <ul>
        {found.changes.map((change, index) => (
          <li key={index} className={change.weakens ? "problem" : undefined}>
            <Visible text={change.what} />{" "}
            <span className="secondary">
              <Visible text={`${change.by}, ${change.recognised}`} /> <Time at={change.at} />
            </span>
          </li>
        ))}
      </ul>
      {see.isError && (
        <p className="problem" role="alert">
          {errorWords(see.error)}
        </p>
      )}
      <Button off={found.presence === "browser" ? undefined : t("settings.changesOff")} busy={see.isPending} onClick={() => see.mutate()}>
        {t("settings.changesSeen")}
      </Button>
    </div>
  );
}

function PasskeyDialog({ asking, onClose }: { asking: Asking; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [label, setLabel] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const { name } = asking.approver;
  const change = useMutation({
    mutationFn: async () => {
      if (asking.kind === "remove") return removePasskey(name, asking.passkey.id, passphrase);
      const made = await createPasskey(name);
      return made === undefined ? undefined : addPasskey(name, { ...made, label: label.trim(), passphrase });
    },
    onSuccess: (changed) => {
      if (changed === undefined) return;
      client.setQueryData(approversQuery.queryKey, changed);
      say(t(asking.kind === "add" ? "settings.passkeyAdded" : "settings.passkeyRemoved"), { tone: "done" });
      onClose();
    },
  });
  const off = passphrase === "" ? t("verify.offEmpty") : asking.kind === "add" && label.trim() === "" ? t("settings.offNoLabel") : undefined;
  return (
    <Dialog open onClose={onClose} title={t(asking.kind === "add" ? "settings.addPasskeyTitle" : "settings.removePasskeyTitle", { name })} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined && !change.isPending) change.mutate();
        }}
      >
        <p>{t(asking.kind === "add" ? "settings.addPasskeyWords" : "settings.removePasskeyWords")}</p>
        {asking.kind === "add" && (
          <label className="approver-field">
            <span>{t("settings.passkeyLabel")}</span>
            <input autoFocus maxLength={64} value={label} onChange={(event) => setLabel(event.target.value)} />
          </label>
        )}
        <label className="approver-field">
          <span>{t("verify.passphrase")}</span>
          <input type="password" autoComplete="off" spellCheck={false} maxLength={4096} value={passphrase} onChange={(event) => setPassphrase(event.target.value)} />
        </label>
        {change.isError && (
          <p className="problem" role="alert">
            {errorWords(change.error)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button type="submit" look={asking.kind === "add" ? "primary" : "danger"} off={off} busy={change.isPending}>
            {t(asking.kind === "add" ? "settings.addPasskey" : "settings.removePasskeyTitle", { name })}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

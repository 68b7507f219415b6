import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { approversQuery } from "../api/queries";
import type { Approver } from "../api/types";
import { t } from "../texts/t";
import { remember, remembered } from "./remembered";

/** Which approver the person is, and their passphrase. */
export interface ApproverEntry {
  approver: string;
  passphrase: string;
}

/** What the person typed so far. The only approver is chosen already. */
export function useApproverEntry(approvers: readonly Approver[]): [ApproverEntry, (change: Partial<ApproverEntry>) => void] {
  const [entry, setEntry] = useState<Partial<ApproverEntry>>({});
  const only = approvers[0]?.name ?? "";
  return [{ approver: entry.approver ?? only, passphrase: entry.passphrase ?? "" }, (change) => setEntry((before) => ({ ...before, ...change }))];
}

export function ApproverFields({
  approvers,
  entry,
  onChange,
  autoFocus = false,
}: {
  approvers: readonly Approver[];
  entry: ApproverEntry;
  onChange: (change: Partial<ApproverEntry>) => void;
  autoFocus?: boolean;
}): ReactNode {
  return (
    <>
      {approvers.length > 1 && (
        <label className="approver-field">
          <span>{t("verify.approver")}</span>
          <select value={entry.approver} onChange={(event) => onChange({ approver: event.target.value })}>
            {approvers.map((approver) => (
              <option key={approver.name} value={approver.name}>
                {approver.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label className="approver-field">
        <span>{t("verify.passphrase")}</span>
        <input type="password" autoComplete="off" spellCheck={false} maxLength={4096} autoFocus={autoFocus} value={entry.passphrase} onChange={(event) => onChange({ passphrase: event.target.value })} />
      </label>
    </>
  );
}

export interface Verification {
  fields: ReactNode;
  entry: ApproverEntry | undefined;
  off: string | undefined;
  /** The server took what the person gave. */
  accepted: () => void;
}

/** The fields where a decision needs a verified person, and nothing elsewhere. */
export function useVerification(require: string | undefined): Verification {
  const needed = require === "verified";
  const found = useQuery({ ...approversQuery, enabled: needed }).data;
  const approvers = found?.approvers ?? [];
  const [entry, setEntry] = useApproverEntry(approvers);
  const given = remembered();
  if (!needed) return { fields: null, entry: undefined, off: undefined, accepted: () => {} };
  if (given !== undefined) return { fields: null, entry: given, off: undefined, accepted: () => {} };
  const off = approvers.length === 0 ? t("verify.none") : entry.passphrase === "" ? t("verify.offEmpty") : undefined;
  return {
    fields: approvers.length === 0 ? <p className="secondary">{t("verify.none")}</p> : <ApproverFields approvers={approvers} entry={entry} onChange={setEntry} />,
    entry,
    off,
    accepted: () => remember(entry, found?.remember ?? 0),
  };
}

import { useState, type ReactNode } from "react";

import type { Approver } from "../api/types";
import { t } from "../texts/t";

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

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { approversQuery } from "../api/queries";
import { t } from "../texts/t";
import { Icon } from "../ui/Icon";
import { canUsePasskeys, worksHere } from "./passkeys";

/** What is signed: an approval, or another act behind the door. */
export type Signed = "approve" | "continue" | "run" | "schedule" | "promote" | "permit" | "tools";

/** Says what the act will ask for, before the click. */
export function SignatureNote({ what, people = 1 }: { what: Signed; people?: number }): ReactNode {
  const approvers = useQuery(approversQuery).data?.approvers;
  const hasPasskey = canUsePasskeys() && (approvers ?? []).some(({ passkeys }) => passkeys.some((passkey) => worksHere(passkey)));
  const isNobody = approvers?.length === 0;
  const proof = t(hasPasskey ? "verify.passkeyOrPassphrase" : "verify.onlyPassphrase");
  return (
    <p className="decision-why" data-tone={isNobody ? "waiting" : undefined}>
      <Icon name="person" size={14} /> {isNobody ? t("verify.none") : t(`verify.before.${what}`, { proof })} {people > 1 && t("verify.beforePeople", { people })}
    </p>
  );
}

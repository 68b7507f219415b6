import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { approversQuery } from "../api/queries";
import { t } from "../texts/t";
import { Icon } from "../ui/Icon";
import { canUsePasskeys, worksHere } from "./passkeys";

/** Says what an approval will ask for, before the click. */
export function SignatureNote({ people }: { people: number }): ReactNode {
  const approvers = useQuery(approversQuery).data?.approvers;
  const hasPasskey = canUsePasskeys() && (approvers ?? []).some(({ passkeys }) => passkeys.some((passkey) => worksHere(passkey)));
  const isNobody = approvers?.length === 0;
  return (
    <p className="decision-why" data-tone={isNobody ? "waiting" : undefined}>
      <Icon name="person" size={14} /> {isNobody ? t("verify.none") : t(hasPasskey ? "verify.beforePasskey" : "verify.before")} {people > 1 && t("verify.beforePeople", { people })}
    </p>
  );
}

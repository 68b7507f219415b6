import type { ReactNode } from "react";

import { t } from "../texts/t";
import { visible } from "../ui/hidden";

/** The arguments of a call as fields. What is allowed then is another call than the agent made. */
export function EditCall({ texts, wrong, onChange }: { texts: Readonly<Record<string, string>>; wrong: string | undefined; onChange: (texts: Record<string, string>) => void }): ReactNode {
  return (
    <fieldset className="ask-edit">
      <legend>{t("ask.edit")}</legend>
      {Object.entries(texts).map(([name, text]) => (
        <label key={name}>
          <code>{visible(name)}</code>
          <textarea rows={Math.min(12, text.split("\n").length)} spellCheck={false} value={text} aria-invalid={name === wrong || undefined} onChange={(event) => onChange({ ...texts, [name]: event.target.value })} />
        </label>
      ))}
      <p className="secondary">{wrong === undefined ? t("ask.editWords") : t("ask.editWrong", { name: visible(wrong) })}</p>
    </fieldset>
  );
}

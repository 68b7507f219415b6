import { useEffect, useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { Icon } from "./Icon";

export function CopyButton({ text, label, children }: { text: string; label: string; children?: ReactNode }): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className={children ? "copy copy-words" : "copy"}
      title={label}
      onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}
    >
      <span className="visually-hidden" aria-live="polite">
        {copied ? t("copy.done") : label}
      </span>
      {children}
      <Icon name={copied ? "check" : "copy"} size={14} />
    </button>
  );
}

import type { ElementContent, Root } from "hast";
import { useEffect, useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { CopyButton } from "../ui/CopyButton";
import { Visible } from "../ui/hidden";

/** Longer code is folded. */
const FOLD_FROM = 32;
const FOLD_TO = 24;

export function CodeBlock({
  code,
  language,
  label,
  numbered = false,
}: {
  code: string;
  language?: string | undefined;
  label?: ReactNode;
  numbered?: boolean;
}): ReactNode {
  const [open, setOpen] = useState(false);
  const lines = code.split("\n");
  const folded = !open && lines.length > FOLD_FROM;
  const shown = folded ? lines.slice(0, FOLD_TO).join("\n") : code;
  const coloured = useHighlight(shown, language);
  return (
    <figure className="code" data-numbered={numbered || undefined}>
      <figcaption>
        <span>{label ?? language ?? t("code.text")}</span>
        <CopyButton text={code} label={t("code.copy")} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{coloured ? <Coloured root={coloured} /> : <Visible text={shown} />}</code>
      </pre>
      {lines.length > FOLD_FROM && (
        <button type="button" className="code-fold" onClick={() => setOpen(!open)}>
          {folded ? t("fold.more", { count: lines.length - FOLD_TO }) : t("fold.less")}
        </button>
      )}
    </figure>
  );
}

function Coloured({ root }: { root: Root }): ReactNode {
  return root.children.map((node, index) => <Token key={index} node={node as ElementContent} />);
}

function Token({ node }: { node: ElementContent }): ReactNode {
  if (node.type === "text") return <Visible text={node.value} />;
  if (node.type !== "element") return null;
  const names = node.properties.className;
  return (
    <span className={Array.isArray(names) ? names.join(" ") : undefined}>
      {node.children.map((child, index) => (
        <Token key={index} node={child} />
      ))}
    </span>
  );
}

type Highlight = (code: string, language: string) => Root | undefined;
let loaded: Highlight | undefined;
let loading: Promise<Highlight> | undefined;

/** The colours come later than the text: the first code on a page loads what makes them. */
export function useHighlight(code: string, language: string | undefined): Root | undefined {
  const [highlight, setHighlight] = useState<{ use: Highlight } | undefined>(loaded && { use: loaded });
  useEffect(() => {
    if (language === undefined || highlight) return;
    let current = true;
    loading ??= import("./highlight").then((module) => (loaded = module.highlight));
    loading.then(
      (use) => current && setHighlight({ use }),
      () => (loading = undefined),
    );
    return () => {
      current = false;
    };
  }, [language, highlight]);
  if (language === undefined || !highlight || code.length > 60_000) return undefined;
  return highlight.use(code, language);
}

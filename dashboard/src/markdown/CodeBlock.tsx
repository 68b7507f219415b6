import type { ElementContent, Root } from "hast";
import { createContext, use, useEffect, useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { CopyButton } from "../ui/CopyButton";
import { Visible } from "../ui/hidden";

/** Longer code is folded. */
const FOLD_FROM = 32;
const FOLD_TO = 24;

/** Where a person decides about what is shown, nothing of it is folded. */
export const WholeContext = createContext(false);

export function CodeBlock({
  code,
  language,
  about,
  label,
  numbered = false,
  growing = false,
}: {
  code: string;
  language?: string | undefined;
  /** The words after the language. */
  about?: string | undefined;
  label?: ReactNode;
  numbered?: boolean;
  /** Code that is still being written has no colours yet: they would be made anew with each piece of it. */
  growing?: boolean;
}): ReactNode {
  const [open, setOpen] = useState(false);
  const lines = code.split("\n");
  const canFold = !use(WholeContext) && lines.length > FOLD_FROM;
  const folded = canFold && !open;
  const shown = folded ? lines.slice(0, FOLD_TO).join("\n") : code;
  const coloured = useHighlight(shown, growing ? undefined : language);
  return (
    <figure className="code" data-numbered={numbered || undefined}>
      <figcaption>
        <span>
          {label ?? (language === undefined ? t("code.text") : <Visible text={language} />)}
          {about !== undefined && (
            <>
              {" "}
              <Visible text={about} />
            </>
          )}
        </span>
        <CopyButton text={code} label={t("code.copy")} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{coloured ? <Coloured root={coloured} /> : <Visible text={shown} />}</code>
      </pre>
      {canFold && (
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
let loading: Promise<Highlight> | undefined;

/** Code that was coloured before keeps its colours when it is shown again. */
const MAX_CACHED = 200;
const coloured = new Map<string, Root>();

/** The colours come later than the text, when the browser has time: text that is scrolled into view is there at once. */
function useHighlight(code: string, language: string | undefined): Root | undefined {
  const key = `${language}\n${code}`;
  const [, redraw] = useState(0);
  const known = coloured.get(key);
  useEffect(() => {
    if (language === undefined || known || code.length > 60_000) return;
    let current = true;
    loading ??= import("./highlight").then((module) => module.highlight);
    loading.then(
      (highlight) =>
        whenIdle(() => {
          if (!current) return;
          const root = highlight(code, language);
          if (!root) return;
          coloured.set(key, root);
          for (const oldest of coloured.keys()) {
            if (coloured.size <= MAX_CACHED) break;
            coloured.delete(oldest);
          }
          redraw((n) => n + 1);
        }),
      () => (loading = undefined),
    );
    return () => {
      current = false;
    };
  }, [code, key, known, language]);
  return known;
}

function whenIdle(act: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(act, { timeout: 1_000 });
  else setTimeout(act, 50);
}

import type { Image, ImageReference, Link, LinkReference, List, ListItem, Nodes, Parents, RootContent, Table, TableCell } from "mdast";
import { createContext, Fragment, memo, use, useEffect, useMemo, useRef, type ReactNode } from "react";

import { fileAddress, isPicture } from "../api/files";
import type { Step } from "../api/types";
import type { SessionId } from "../session/id";
import { StepIcon } from "../ui/status";
import { Visible, visible } from "../ui/hidden";
import { t } from "../texts/t";
import { CodeBlock, WholeContext } from "./CodeBlock";
import { askedHost, everyNode, grow, isInlineImage, openFence, parse, parseOnce, plainText, safeAddress, sessionFile, type GrowingText } from "./parse";

/** The session whose own pictures may be shown in a text. */
export const SessionFilesContext = createContext<SessionId | undefined>(undefined);

export interface MarkdownProps {
  text: string;
  /** The states of a document's steps, shown in place of its own boxes. */
  steps?: readonly Step[] | undefined;
  /** Lines, from 1, that differ from an earlier version. */
  changed?: ReadonlySet<number> | undefined;
  /** Headings get anchors. */
  anchors?: boolean;
  /** More is added to the text in a moment. */
  growing?: boolean;
}

/** Quotations and lists that are nested deeper get no more space: the text would have none. */
const MAX_INDENT = 6;
/** What is nested deeper than this is shown as it is written. */
const MAX_DEPTH = 40;
/** A wider table is shown as it is written, line by line, because its last columns would lie beside the screen. */
const MAX_COLUMNS = 8;

/**
 * Markdown as elements. No HTML is ever made from it: HTML in the text is shown as text, addresses other than https, http and
 * mailto are shown as text, and pictures are not loaded from anywhere but the session's own files.
 *
 * A person approves what they see, so nothing of the text is left out: definitions, destinations, titles, labels and the words
 * after a fence's language are shown as they are written, at their place (`crates/core/src/plan/hidden.rs`).
 */
export const Markdown = memo(function Markdown({ text, steps, changed, anchors = false, growing = false }: MarkdownProps): ReactNode {
  const root = useMemo(() => (growing ? parseOnce(text) : parse(text)), [text, growing]);
  const context = useMemo<Context>(() => {
    const tasks = new Map<Nodes, Step>();
    if (steps && steps.length > 0) {
      const items = taskItems(root);
      if (items.length === steps.length) items.forEach((item, index) => tasks.set(item, steps[index] as Step));
    }
    const definitions = new Map<string, string>();
    addDefinitions(root, definitions);
    // The page has its own first heading. No level is left out, whatever the text does.
    const levels = new Map<Nodes, number>();
    let level = 1;
    for (const node of root.children) if (node.type === "heading") levels.set(node, (level = Math.min(6, node.depth + 1, level + 1)));
    return { text, tasks, changed, anchors, definitions, levels, growing, isInLink: false };
  }, [text, root, steps, changed, anchors, growing]);
  return (
    <div className="md" dir="auto">
      {root.children.map((node, index) => (
        <Block key={index} node={node} context={context} depth={0} />
      ))}
    </div>
  );
});

/** A text that is still being written. With each piece of it only its last part is parsed and drawn again. */
export function StreamingMarkdown({ text }: { text: string }): ReactNode {
  const before = useRef<GrowingText>(undefined);
  const now = useMemo(() => grow(before.current, text), [text]);
  useEffect(() => {
    before.current = now;
  }, [now]);
  const code = openFence(now.rest);
  return (
    <div className="md-growing">
      {now.parts.map((part, index) => (
        <Markdown key={index} text={part} />
      ))}
      {code ? (
        <div className="md">
          <CodeBlock code={code.code} language={code.language} growing />
        </div>
      ) : (
        now.rest !== "" && <Markdown text={now.rest} growing />
      )}
    </div>
  );
}

interface Context {
  text: string;
  tasks: Map<Nodes, Step>;
  changed: ReadonlySet<number> | undefined;
  anchors: boolean;
  definitions: Map<string, string>;
  levels: Map<Nodes, number>;
  growing: boolean;
  isInLink: boolean;
}

/** The first definition of a label counts, wherever it stands. */
function addDefinitions(root: Nodes, found: Map<string, string>): void {
  for (const node of everyNode(root)) if (node.type === "definition" && !found.has(node.identifier)) found.set(node.identifier, node.url);
}

function taskItems(root: Parents): ListItem[] {
  return [...everyNode(root as Nodes)].filter((node): node is ListItem => node.type === "listItem" && typeof node.checked === "boolean");
}

function isChanged(node: Nodes, changed: ReadonlySet<number> | undefined): boolean {
  if (!changed || changed.size === 0 || !node.position) return false;
  for (let line = node.position.start.line; line <= node.position.end.line; line += 1) if (changed.has(line)) return true;
  return false;
}

/** `depth` is how many quotations and lists the block is in. */
function Block({ node, context, depth }: { node: RootContent; context: Context; depth: number }): ReactNode {
  const changed = isChanged(node, context.changed);
  if (depth > MAX_DEPTH) return <Source node={node} context={context} about={t("md.deep")} />;
  switch (node.type) {
    case "heading": {
      const Tag = `h${context.levels.get(node) ?? Math.min(6, node.depth + 1)}` as "h2";
      return (
        <Tag dir="auto" className={mark(`md-h${node.depth}`, changed)} id={context.anchors ? `line-${node.position?.start.line ?? 0}` : undefined}>
          {inline(node, context)}
        </Tag>
      );
    }
    case "paragraph":
      return <p dir="auto" className={mark("", changed)}>{inline(node, context)}</p>;
    case "blockquote":
      return (
        <blockquote className={mark(depth >= MAX_INDENT ? "md-deep" : "", changed)} data-level={depth >= MAX_INDENT ? t("md.level", { n: depth + 1 }) : undefined}>
          {blocks(node, context, depth + 1)}
        </blockquote>
      );
    case "list":
      return <ListBlock node={node} context={context} depth={depth + 1} />;
    case "code":
      return (
        <div className={mark("", changed)}>
          <CodeBlock code={node.value} language={node.lang ?? undefined} about={node.meta ?? undefined} growing={context.growing} />
        </div>
      );
    case "html":
      return (
        <p className={mark("md-html", changed)}>
          <code>
            <Visible text={node.value} />
          </code>
        </p>
      );
    case "table":
      return <TableBlock node={node} context={context} changed={changed} />;
    case "thematicBreak":
      return <hr />;
    case "definition":
      return (
        <p className={mark("md-source", changed)}>
          <code>
            <Visible text={sourceOf(node, context)} />
          </code>
        </p>
      );
    default:
      return <p>{inlineOne(node, context)}</p>;
  }
}

/** Where it is too narrow for all columns, each cell stands on a line of its own below the name of its column: none lies beside the screen. */
function TableBlock({ node, context, changed }: { node: Table; context: Context; changed: boolean }): ReactNode {
  const columns = node.children.reduce((most, row) => Math.max(most, row.children.length), 0);
  if (columns > MAX_COLUMNS) return <Source node={node} context={context} about={t("md.wide")} />;
  const [head, ...body] = node.children;
  const names = (head?.children ?? []).map((cell) => visible(plainText(cell)));
  return (
    <div className={mark("md-table", changed)} role="group" aria-label={t("md.table")} tabIndex={0}>
      <table role="table" data-columns={columns}>
        <thead role="rowgroup">
          <tr role="row">{cells(head?.children ?? [], node.align, context, "th", [])}</tr>
        </thead>
        <tbody role="rowgroup">
          {body.map((row, index) => (
            <tr key={index} role="row">
              {cells(row.children, node.align, context, "td", names)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a block is made of, where showing it as what it means would hide some of it. */
function Source({ node, context, about }: { node: RootContent; context: Context; about: string }): ReactNode {
  return (
    <div className={mark("md-as-source", isChanged(node, context.changed))}>
      <CodeBlock code={sourceOf(node, context)} label={about} growing />
    </div>
  );
}

function sourceOf(node: RootContent, context: Context): string {
  return context.text.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
}

function mark(name: string, changed: boolean): string | undefined {
  const classes = [name, changed ? "md-changed" : ""].filter((one) => one !== "").join(" ");
  return classes === "" ? undefined : classes;
}

function ListBlock({ node, context, depth }: { node: List; context: Context; depth: number }): ReactNode {
  // The numbers as they are written: "1. 7. 3." is not counted anew, for the agent reads what is written.
  const numbers = node.children.map((item) => (node.ordered ? Number(/^\d+/.exec(sourceOf(item, context))?.[0] ?? node.start ?? 1) : undefined));
  const digits = numbers.reduce<number>((most, number) => Math.max(most, String(number ?? "").length), 0);
  const items = node.children.map((item, index) => {
    const isTask = typeof item.checked === "boolean";
    const step = context.tasks.get(item);
    const only = !node.spread && item.children.length > 0;
    return (
      <li key={index} className={mark(isTask ? "md-task" : "", isChanged(item, context.changed))} data-step={step?.position} value={numbers[index]}>
        {isTask && (step ? <StepIcon status={step.status} /> : <Box checked={item.checked === true} />)}
        <div className="md-item" dir="auto">
          {item.children.map((child, at) =>
            only && child.type === "paragraph" ? (
              <Fragment key={at}>{inline(child, context)}</Fragment>
            ) : (
              <Block key={at} node={child} context={context} depth={depth} />
            ),
          )}
        </div>
      </li>
    );
  });
  const isDeep = depth > MAX_INDENT;
  const names = [node.children.some((item) => typeof item.checked === "boolean") ? "md-tasks" : "", isDeep ? "md-deep" : ""].filter((name) => name !== "").join(" ") || undefined;
  const level = isDeep ? t("md.level", { n: depth }) : undefined;
  return node.ordered ? (
    <ol className={names} data-level={level} style={digits > 2 ? { paddingInlineStart: `${digits + 2}ch` } : undefined}>
      {items}
    </ol>
  ) : (
    <ul className={names} data-level={level}>
      {items}
    </ul>
  );
}

function Box({ checked }: { checked: boolean }): ReactNode {
  return (
    <span className="md-box" data-checked={checked} role="img" aria-label={checked ? t("md.done") : t("md.open")}>
      {checked ? "✓" : ""}
    </span>
  );
}

function cells(row: TableCell[], align: (string | null)[] | null | undefined, context: Context, Tag: "td" | "th", names: readonly string[]): ReactNode {
  return row.map((cell, index) => (
    <Tag key={index} dir="auto" role={Tag === "th" ? "columnheader" : "cell"} data-name={names[index] || undefined} data-align={align?.[index] ?? undefined} scope={Tag === "th" ? "col" : undefined}>
      {inline(cell, context)}
    </Tag>
  ));
}

function blocks(node: Parents, context: Context, depth: number): ReactNode {
  return node.children.map((child, index) => <Block key={index} node={child as RootContent} context={context} depth={depth} />);
}

function inline(node: Parents, context: Context, depth = 0): ReactNode {
  return node.children.map((child, index) => <Fragment key={index}>{inlineOne(child as RootContent, context, depth + 1)}</Fragment>);
}

function inlineOne(node: RootContent, context: Context, depth = 0): ReactNode {
  if (depth > MAX_DEPTH) return <code className="md-source">{visible(sourceOf(node, context))}</code>;
  switch (node.type) {
    case "text":
      return <Visible text={node.value} />;
    case "strong":
      return <strong>{inline(node, context, depth)}</strong>;
    case "emphasis":
      return <em>{inline(node, context, depth)}</em>;
    case "delete":
      return <del>{inline(node, context, depth)}</del>;
    case "inlineCode":
      return (
        <code>
          <Visible text={node.value} />
        </code>
      );
    case "break":
      return <br />;
    case "html":
      return (
        <code className="md-html">
          <Visible text={node.value} />
        </code>
      );
    case "link":
      return (
        <>
          {link(node.url, node, context, depth)}
          <Title of={node} />
        </>
      );
    case "linkReference":
      return (
        <>
          {link(context.definitions.get(node.identifier) ?? "", node, context, depth)}
          <Label of={node} />
        </>
      );
    case "image":
      return (
        <>
          <Picture url={node.url} words={node.alt ?? ""} />
          <Title of={node} />
          <Nested node={node} context={context} />
        </>
      );
    case "imageReference":
      return (
        <>
          <Picture url={context.definitions.get(node.identifier) ?? ""} words={node.alt ?? ""} />
          <Label of={node} />
          <Nested node={node} context={context} />
        </>
      );
    default:
      return "children" in node ? inline(node, context, depth) : <Visible text={plainText(node)} />;
  }
}

/** The title of a link or a picture, which a browser shows only below a pointer. */
function Title({ of: { title } }: { of: { title?: string | null | undefined } }): ReactNode {
  return title ? (
    <>
      {" "}
      <code className="md-source">"{visible(title)}"</code>
    </>
  ) : null;
}

/** The second part of `[words][label]`. */
function Label({ of: { label, referenceType } }: { of: { label?: string | null | undefined; referenceType: string } }): ReactNode {
  return referenceType === "full" && label ? (
    <>
      {" "}
      <code className="md-source">[{visible(label)}]</code>
    </>
  ) : null;
}

/** The words of a picture may have links and pictures in them, of which only the words are left: then it is also shown as it is written. */
function Nested({ node, context }: { node: Image | ImageReference; context: Context }): ReactNode {
  const source = sourceOf(node, context);
  if (/^!\[[^[\]<>`\\&]*\](?:[([]|$)/.test(source)) return null;
  return (
    <>
      {" "}
      <code className="md-source">
        <Visible text={source} />
      </code>
    </>
  );
}

/** A link whose words are not its address says where it leads. An address in the words of a link is no link of its own. */
function link(url: string, node: Link | LinkReference, context: Context, depth: number): ReactNode {
  const words = plainText(node);
  const children = inline(node, context.isInLink ? context : { ...context, isInLink: true }, depth);
  const address = safeAddress(url);
  if (address === undefined) {
    return url === "" ? (
      children
    ) : (
      <>
        {children} <code className="md-refused">{visible(url)}</code>
      </>
    );
  }
  const plain = words.trim() === address || words.trim() === address.replace(/^mailto:/, "") || words.trim() === address.replace(/^https?:\/\//, "").replace(/\/$/, "");
  const host = askedHost(address);
  return (
    <>
      {context.isInLink ? (
        children
      ) : (
        <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={visible(address)}>
          {children}
        </a>
      )}
      {(!plain || host !== undefined) && (
        <span className="md-place">
          {visible(address)}
          {host !== undefined && <> {t("md.host", { host })}</>}
        </span>
      )}
    </>
  );
}

function Picture({ url, words }: { url: string; words: string }): ReactNode {
  const session = use(SessionFilesContext);
  const isWhole = use(WholeContext);
  const file = sessionFile(url);
  const source =
    session !== undefined && file !== undefined && isPicture(file) ? fileAddress(session, file) : isInlineImage(url) ? url : undefined;
  if (source === undefined)
    return (
      <span className="md-image">
        {t("md.image")} <Visible text={words} /> <code>{visible(url)}</code>
      </span>
    );
  return (
    <>
      <img className="md-picture" src={source} alt={visible(words)} loading="lazy" />
      <span className="md-image">
        <Visible text={words} /> {(isWhole || source !== url) && <code>{visible(url)}</code>}
      </span>
    </>
  );
}

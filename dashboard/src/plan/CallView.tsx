import type { ReactNode } from "react";

import { ExactNumber, parseExact, stringifyExact } from "../api/exactJson";
import type { CallPreview, Step } from "../api/types";
import { CodeBlock } from "../markdown/CodeBlock";
import { languageOf } from "../markdown/language";
import { t } from "../texts/t";
import { CopyButton } from "../ui/CopyButton";
import { Visible, visible } from "../ui/hidden";
import { Icon, type IconName } from "../ui/Icon";
import { diffLines, type Line } from "./lineDiff";
import { PreviewView } from "./PreviewView";

type Arguments = Record<string, unknown>;

/** A call as what it is: a file write as lines, a command as a command. */
export function CallView({ tool, args, preview }: { tool: string; args: unknown; preview?: CallPreview | undefined }): ReactNode {
  const given = asObject(args);
  // The difference says what these arguments do, and nothing of others.
  if (preview) return <WithRest call={<PreviewView preview={preview} call={<CallView tool={tool} args={args} />} />} given={given} names={Object.keys(given).filter((name) => IN_DIFFERENCE.has(name))} />;
  const path = text(given.path);
  switch (tool) {
    case "write_file": {
      const content = text(given.content);
      if (path !== undefined && content !== undefined) return <WithRest call={<FileWrite path={path} content={content} />} given={given} names={["path", "content"]} />;
      break;
    }
    case "edit_file":
      if (path !== undefined && Array.isArray(given.edits)) return <WithRest call={<FileEdit path={path} edits={given.edits} />} given={given} names={["path", "edits"]} />;
      break;
    case "run_command": {
      const command = text(given.command);
      if (command !== undefined) return <WithRest call={<Command command={command} cwd={text(given.cwd)} />} given={given} names={["command", ...(text(given.cwd) === undefined ? [] : ["cwd"])]} />;
      break;
    }
  }
  // Whatever else it is, it is shown.
  return args === undefined || isObject(args) ? <Fields values={given} /> : <CodeBlock code={stringifyExact(args, 2)} language="json" />;
}

/** What the difference that a call makes to a file shows. */
export const IN_DIFFERENCE: ReadonlySet<string> = new Set(["path", "content", "edits", "to"]);

/** A call with the arguments that its own view does not show. */
export function WithRest({ call, given, names }: { call: ReactNode; given: Arguments; names: readonly string[] }): ReactNode {
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
  return (
    <>
      {call}
      {Object.keys(rest).length > 0 && <Fields values={rest} />}
    </>
  );
}

/** The agent's words about a recorded call. Without any its description is the call itself (`RecordedCall` in `crates/core/src/plan/content.rs`). */
export function purposeOf({ tool, arguments: args, description }: Pick<Step, "tool" | "arguments" | "description">): string | undefined {
  if (tool === undefined) return undefined;
  const call = `${tool}(${stringifyExact(args)})`;
  const words = description.startsWith(call) ? description.slice(call.length).replace(/^: /, "") : description;
  return words === "" ? undefined : words;
}

/** What a call does, in a few words. Details are known once its arguments or its result are. */
export function callWords(tool: string, args: unknown, result?: string): { words: string; detail: string | undefined; icon: IconName } {
  const given = asObject(args);
  const answer = result === undefined ? {} : asObject(parseJson(result));
  const path = text(given.path) ?? text(answer.path);
  switch (tool) {
    case "list_files":
      return { words: t("call.listFiles"), detail: path || undefined, icon: "file" };
    case "glob_files":
      return { words: t("call.globFiles"), detail: text(given.pattern), icon: "search" };
    case "grep_files":
      return { words: t("call.grepFiles"), detail: text(given.pattern), icon: "search" };
    case "read_file":
      return { words: t("call.readFile"), detail: path, icon: "file" };
    case "write_file":
      return { words: t("call.writeFile"), detail: path, icon: "edit" };
    case "edit_file":
      return { words: t("call.editFile"), detail: path, icon: "edit" };
    case "delete_file":
      return { words: t("call.deleteFile"), detail: path, icon: "trash" };
    case "move_file":
      return { words: t("call.moveFile"), detail: [path, text(given.to)].filter(Boolean).join(" → ") || undefined, icon: "swap" };
    case "run_command":
      return { words: t("call.runCommand"), detail: text(given.command), icon: "terminal" };
    case "plan_get":
      return { words: t("call.planGet"), detail: undefined, icon: "list" };
    case "plan_set_content":
      return { words: t("call.planSetContent"), detail: undefined, icon: "list" };
    case "plan_progress": {
      const step = given.step ?? undefined;
      return { words: t("call.planProgress"), detail: step === undefined ? text(given.note) : t("step.number", { n: String(step) }), icon: "check" };
    }
    case "plan_create_draft":
    case "plan_set_metadata":
    case "plan_update_step":
    case "plan_remove_step":
    case "plan_add_step":
      return { words: t("call.planDraft"), detail: text(given.description) ?? text(given.title) ?? text(given.goal), icon: "list" };
    case "plan_finalize":
    case "plan_submit":
      return { words: t("call.planSubmit"), detail: undefined, icon: "list" };
    case "ask_agent":
      return { words: t("call.askAgent", { agent: visible(text(given.agent) ?? "") }), detail: text(given.question), icon: "question" };
    default:
      return { words: visible(tool), detail: firstText(given), icon: "tool" };
  }
}

function firstText(given: Arguments): string | undefined {
  for (const value of Object.values(given)) {
    if (typeof value === "string" && value.trim() !== "" && value.length < 200) return value;
  }
  return undefined;
}

function FileWrite({ path, content }: { path: string; content: string }): ReactNode {
  const lines = content.replace(/\n$/, "").split("\n").length;
  return (
    <CodeBlock
      code={content}
      language={languageOf(path)}
      numbered
      label={
        <>
          <Icon name="edit" size={14} /> <Visible text={path} /> <span className="plus">{t("diff.plus", { n: lines })}</span>
        </>
      }
    />
  );
}

function FileEdit({ path, edits }: { path: string; edits: unknown[] }): ReactNode {
  return (
    <figure className="code">
      <figcaption>
        <span>
          <Icon name="edit" size={14} /> <Visible text={path} />
        </span>
      </figcaption>
      {edits.map((edit, index) => {
        const { old, new: now, ...rest } = asObject(edit);
        return (
          <div key={index}>
            <Lines lines={diffLines(text(old) ?? "", text(now) ?? "")} />
            {Object.keys(rest).length > 0 && <Fields values={rest} />}
          </div>
        );
      })}
    </figure>
  );
}

export function Lines({ lines }: { lines: readonly Line[] }): ReactNode {
  return (
    <pre className="diff" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={index} className="diff-line" data-mark={line.mark}>
          <span className="diff-sign" aria-hidden="true">
            {line.mark === "added" ? "+" : line.mark === "removed" ? "−" : " "}
          </span>
          <span className="diff-text">
            <Visible text={line.text} />
          </span>
        </span>
      ))}
    </pre>
  );
}

function Command({ command, cwd }: { command: string; cwd: string | undefined }): ReactNode {
  return (
    <figure className="code code-command">
      <figcaption>
        <span>
          <Icon name="terminal" size={14} /> {cwd === undefined ? t("call.command") : t("call.commandIn", { folder: visible(cwd) })}
        </span>
        <CopyButton text={command} label={t("code.copy")} />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          <span className="prompt" aria-hidden="true">
            ${" "}
          </span>
          <Visible text={command} />
        </code>
      </pre>
    </figure>
  );
}

/** Any other call: its arguments, each in its place. */
export function Fields({ values }: { values: Arguments }): ReactNode {
  const entries = Object.entries(values);
  if (entries.length === 0) return <p className="secondary">{t("call.noArguments")}</p>;
  return (
    <dl className="fields">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: unknown }): ReactNode {
  if (typeof value === "string") {
    return value.includes("\n") || value.length > 200 ? <CodeBlock code={value} /> : <Visible text={value} />;
  }
  if (value instanceof ExactNumber) return <code>{value.digits}</code>;
  if (value === null || typeof value !== "object") return <code>{String(value)}</code>;
  if (Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number")) {
    return value.length === 0 ? (
      <span className="secondary">{t("call.empty")}</span>
    ) : (
      <ul className="plain-list">
        {value.map((item, index) => (
          <li key={index}>
            <Visible text={String(item)} />
          </li>
        ))}
      </ul>
    );
  }
  return <CodeBlock code={stringifyExact(value, 2)} language="json" />;
}

/** A result: text as text, JSON by its fields. */
export function ResultView({ result }: { result: string }): ReactNode {
  const parsed = parseJson(result);
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return <Fields values={parsed as Arguments} />;
  return <CodeBlock code={result} />;
}

export function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Arguments {
  return isObject(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

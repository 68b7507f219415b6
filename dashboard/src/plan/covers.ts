import type { Plan } from "../api/types";
import { needsOf, parse } from "../markdown/parse";

/** What carrying a plan out does, as far as its content says it. */
export interface Covered {
  commands: CoveredCommand[];
  /** Files that are written, changed or moved. */
  files: CoveredFile[];
  deletions: CoveredFile[];
  /** Other tools that do more than read, each once. */
  tools: { name: string; steps: number[] }[];
  /** How many calls only read. */
  reads: number;
  /** Hosts that its calls, commands and text name. */
  hosts: string[];
  /** The hosts are named in a text, and not by what is done. */
  areHostsFromText: boolean;
  /** The block of a document that says what its work needs, as it is written. */
  needs: string | undefined;
}

export interface CoveredCommand {
  /** Missing in a document, whose commands belong to the whole text. */
  step: number | undefined;
  line: string;
}

export interface CoveredFile {
  step: number;
  path: string;
}

const ONLY_READS: ReadonlySet<string> = new Set(["list_files", "glob_files", "grep_files", "read_file", "memory_search", "plan_get", "plan_list", "command_output", "read_plan", "list_plans"]);

/** `out` are the positions of the steps that are left out. */
export function covered(plan: Pick<Plan, "style" | "markdown" | "steps" | "commands">, out: ReadonlySet<number> = new Set()): Covered {
  const found: Covered = { commands: [], files: [], deletions: [], tools: [], reads: 0, hosts: [], areHostsFromText: plan.style === "document", needs: undefined };
  const hosts = new Set<string>();
  if (plan.style === "document") {
    // Which lines an approval covers the server says: another parser may read a text in another way.
    found.commands = (plan.commands ?? []).map((line) => ({ step: undefined, line }));
    found.needs = needsOf(parse(plan.markdown));
    addHosts(plan.markdown, hosts);
  }
  const tools = new Map<string, number[]>();
  for (const step of plan.steps) {
    if (plan.style === "document" || out.has(step.position)) continue;
    const at = step.position;
    for (const line of step.commands ?? []) found.commands.push({ step: at, line });
    const given = asObject(step.arguments);
    const path = text(given.path) ?? "";
    switch (step.tool) {
      case undefined:
        break;
      case "run_command": {
        const folder = text(given.cwd);
        found.commands.push({ step: at, line: folder === undefined ? (text(given.command) ?? "") : `cd ${folder} && ${text(given.command) ?? ""}` });
        break;
      }
      case "write_file":
      case "edit_file":
        found.files.push({ step: at, path });
        break;
      case "move_file":
        found.files.push({ step: at, path: `${path} → ${text(given.to) ?? ""}` });
        break;
      case "delete_file":
        found.deletions.push({ step: at, path });
        break;
      default:
        // The name alone says nothing about a tool of another program.
        if (ONLY_READS.has(step.tool) && step.madeBy !== "client") found.reads += 1;
        else tools.set(step.tool, [...(tools.get(step.tool) ?? []), at]);
    }
    addHosts(JSON.stringify([step.description, step.arguments, step.commands, step.verification]), hosts);
  }
  found.tools = [...tools].map(([name, steps]) => ({ name, steps }));
  found.hosts = [...hosts].sort();
  return found;
}

function addHosts(words: string, hosts: Set<string>): void {
  // A full stop behind it ends the sentence.
  const add = (host = "") => {
    const name = host.toLowerCase().replace(/\.+$/, "");
    if (name !== "") hosts.add(name);
  };
  for (const [, host] of words.matchAll(/\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/"'`<>()[\]\\@]*@)?(\[[0-9a-f:.]+\]|[^\s/"'`<>()[\]\\:?#,;|$&*{}]+)/gi)) add(host);
  // `scp file user@host:path` and the like.
  for (const [, host] of words.matchAll(/(?<![\w.:/@-])[\w.-]+@([a-z0-9][a-z0-9.-]*):(?!\/\/)/gi)) add(host);
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// Planwright in opencode: edits and commands wait for the approved plan, and the plan comes back after a compaction.
// `planwright install opencode` writes this file; `planwright uninstall opencode` takes it away.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = "planwright";
const OPTIONS = [];

// Whatever goes wrong here stops the call: opencode does not make a call whose plugin throws.
function hook(event, details) {
  const input = JSON.stringify(details);
  const ran = spawnSync(PROGRAM, [...OPTIONS, "hook", "--client", "opencode", event], { input, encoding: "utf8", timeout: 20_000 });
  if (ran.error || ran.status !== 0) {
    const reason = ran.error?.message ?? (ran.stderr.trim() || `it ended with ${ran.signal ?? ran.status}`);
    const file = fileURLToPath(import.meta.url);
    throw new Error(`Planwright could not answer, so this call is denied: ${reason}. If Planwright was removed, delete ${file}.`);
  }
  return ran.stdout.trim() === "" ? {} : JSON.parse(ran.stdout);
}

// The server entries as opencode reads them from its files: the hook looks at the session and the store of the server.
let servers;

export const Planwright = async ({ directory }) => ({
  config: async (config) => {
    servers = config.mcp ?? {};
  },
  "tool.execute.before": async (input, output) => {
    const answer = hook("pre-tool-use", { project: directory, cwd: directory, servers, tool_name: input.tool, tool_input: output.args });
    if (answer.decision === "block") throw new Error(answer.reason);
  },
  // What it found out or why it failed is noted in the workbook. Nothing depends on it.
  "tool.execute.after": async (input, output) => {
    try {
      const ended = { output: output.output, metadata: output.metadata };
      const details = { project: directory, cwd: directory, servers, tool_name: input.tool, tool_input: input.args, tool_response: ended };
      const { context } = hook("post-tool-use", details);
      if (context && typeof output.output === "string") output.output += `\n\n${context}`;
    } catch {}
  },
  "experimental.session.compacting": async (_input, output) => {
    const { context } = hook("session-start", { project: directory, cwd: directory, servers });
    if (context) output.context.push(context);
  },
});

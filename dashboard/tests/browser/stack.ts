// Starts the real server with a scripted model. Tests talk to it as a browser does.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startModel, type ScriptedModel } from "./model";

export const TOKEN = "a-token-for-the-browser-tests";
const BINARY = process.env.PLANWRIGHT_BIN ?? fileURLToPath(new URL("../../../target/debug/planwright", import.meta.url));

export interface Stack {
  url: string;
  /** The data folder. */
  data: string;
  model: ScriptedModel;
  api: <T = any>(method: string, path: string, body?: unknown) => Promise<T>;
  /** Runs the program at a terminal of its own, which `script` plays, and types each answer after its question. */
  terminal: (words: string[], answers?: [question: string, answer: string][]) => Promise<string>;
  /** Ends the server at once, as a crash does. */
  kill: () => Promise<void>;
  /** Starts it again at the same address, with the same data. */
  restart: () => Promise<void>;
  /** Deletes every session and its files, so that the next test begins with none. */
  clear: () => Promise<void>;
  close: () => Promise<void>;
}

export type StoreKind = "SQLite" | "PostgreSQL";

/** A database of its own on the server that `scripts/with-postgres` started. */
function newDatabase(): string {
  const server = process.env.PLANWRIGHT_TEST_POSTGRES;
  if (server === undefined) throw new Error("there is no PostgreSQL server: use scripts/test-dashboard, or scripts/with-postgres");
  const name = `browser_${randomBytes(6).toString("hex")}`;
  execFileSync("psql", ["--quiet", "--no-psqlrc", server, "--command", `create database ${name}`]);
  return server.replace(/^postgres:\/\/\/postgres/, `postgres:///${name}`);
}

function atTerminal(command: string[], settings: Record<string, string>, answers: [string, string][]): Promise<string> {
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", command.join(" "), "/dev/null"], { env: { ...process.env, TERM: "dumb", ...settings } });
  const waiting = [...answers];
  let screen = "";
  let seen = 0;
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve(screen) : reject(new Error(`${command.join(" ")}: ${code}\n${screen}`))));
    child.stdout.on("data", (chunk: Buffer) => {
      screen += chunk.toString();
      const [question, answer] = waiting[0] ?? [];
      if (question === undefined || !screen.slice(seen).includes(question)) return;
      seen = screen.length;
      waiting.shift();
      child.stdin.write(`${answer}\n`);
    });
  });
}

let shared: Promise<Stack> | undefined;

/** The server of this worker, without sessions: for the test files that need no settings of their own. */
export async function sharedStack(): Promise<Stack> {
  const stack = await (shared ??= startStack());
  await stack.clear();
  return stack;
}

/** The plan of a new session in which the person said this. */
export async function planned(stack: Stack, key: string, ...said: string[]): Promise<string> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
  const { plans } = await stack.api("GET", `/api/plans?sessionId=${key}`);
  return plans[0].id;
}

/** A tool that the agent of another program calls over MCP, in the session of that name. `name` is what the program calls itself. */
export async function agentCalls(stack: Stack, { key, style, name }: { key: string; style: string; name: string }, tool: string, args: unknown): Promise<void> {
  const about = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
  const answer = await fetch(`${stack.url}/mcp/${key}?plan=${style}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args, _meta: about } }),
  });
  const text = await answer.text();
  if (!answer.ok || /"isError":true|"error":/.test(text)) throw new Error(`${tool}: ${answer.status} ${text}`);
}

/** What ends with this process, however it ends. */
const running = new Map<ChildProcess, string>();
process.once("SIGTERM", () => process.exit());
process.once("exit", () => {
  for (const [server, data] of running) {
    server.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
});

export async function startStack(store: StoreKind = "SQLite", settings: Record<string, string> = {}): Promise<Stack> {
  const model = await startModel();
  const data = await mkdtemp(join(tmpdir(), "planwright-browser-"));
  await writeFile(join(data, "planwright.toml"), '[[permissions]]\ntool = "delete_file"\ndecide = "ask"\n\n[[permissions]]\ntool = "edit_file"\nmatch = "asked.md"\ndecide = "ask"\n');
  const database: Record<string, string> = store === "PostgreSQL" ? { PLANWRIGHT_DATABASE: newDatabase() } : {};
  let server: ChildProcess | undefined;
  let url = "";

  const start = async (listen: string) => {
    const child = spawn(BINARY, ["serve", "--json", "--listen", listen, "--data", data], {
      env: {
        ...process.env,
        PLANWRIGHT_TOKEN: TOKEN,
        PLANWRIGHT_MODEL: "openai:scripted",
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "none",
        PLANWRIGHT_SERVER_LEASE_SECONDS: "2",
        ...database,
        ...settings,
      },
      stdio: ["ignore", "pipe", process.env.PLANWRIGHT_TEST_LOG ? "inherit" : "ignore"],
    });
    server = child;
    running.set(child, data);
    child.once("exit", () => running.delete(child));
    url = await new Promise<string>((resolve, reject) => {
      let printed = "";
      child.stdout?.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        const [line, rest] = printed.split("\n");
        if (line !== undefined && rest !== undefined) resolve((JSON.parse(line) as { address: string }).address);
      });
      child.on("error", reject);
      child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
  };
  const hasEnded = () => !server || server.exitCode !== null || server.signalCode !== null;
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (hasEnded()) return resolve();
      server?.once("exit", () => resolve());
      server?.kill(signal);
    });
  const restart = async () => {
    const { host } = new URL(url);
    // Another process of the machine may hold the port for a moment.
    for (let left = 100; ; left -= 1) {
      try {
        return await start(host);
      } catch (error) {
        if (left === 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };

  await start("127.0.0.1:0");
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
  return {
    get url() {
      return url;
    },
    data,
    model,
    terminal: (words, answers = []) => atTerminal([BINARY, ...words, "--data", data], { ...database, ...settings }, answers),
    api,
    clear: async () => {
      model.release();
      if (hasEnded()) await restart();
      for (;;) {
        const { sessions } = await api<{ sessions: { sessionId: string; channel: string }[] }>("GET", "/api/sessions?limit=64");
        if (sessions.length === 0) return rm(join(data, "users"), { recursive: true, force: true });
        for (const { sessionId, channel } of sessions) await api("DELETE", `/api/sessions/${sessionId}?channel=${channel}`);
      }
    },
    kill: () => end("SIGKILL"),
    restart,
    close: async () => {
      await end("SIGTERM");
      await model.close();
      await rm(data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

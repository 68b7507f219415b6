// Starts the real server with a scripted model. Tests talk to it as a browser does.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startModel, type ScriptedModel } from "./model";

export const TOKEN = "a-token-for-the-browser-tests";
const BINARY = process.env.PLANWRIGHT_BIN ?? fileURLToPath(new URL("../../../target/debug/planwright", import.meta.url));

export interface Stack {
  url: string;
  model: ScriptedModel;
  api: <T = any>(method: string, path: string, body?: unknown) => Promise<T>;
  /** Ends the server at once, as a crash does. */
  kill: () => Promise<void>;
  /** Starts it again at the same address, with the same data. */
  restart: () => Promise<void>;
  close: () => Promise<void>;
}

export async function startStack(): Promise<Stack> {
  const model = await startModel();
  const data = await mkdtemp(join(tmpdir(), "planwright-browser-"));
  await writeFile(join(data, "planwright.toml"), '[[permissions]]\ntool = "delete_file"\ndecide = "ask"\n');
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
        ...(process.env.PLANWRIGHT_TEST_DATABASE ? { PLANWRIGHT_DATABASE: process.env.PLANWRIGHT_TEST_DATABASE } : {}),
      },
      stdio: ["ignore", "pipe", process.env.PLANWRIGHT_TEST_LOG ? "inherit" : "ignore"],
    });
    server = child;
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
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (!server || server.exitCode !== null || server.signalCode !== null) return resolve();
      const child = server;
      child.once("exit", () => resolve());
      child.kill(signal);
    });

  await start("127.0.0.1:0");
  return {
    get url() {
      return url;
    },
    model,
    api: async <T>(method: string, path: string, body?: unknown) => {
      const answer = await fetch(url + path, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as T;
    },
    kill: () => end("SIGKILL"),
    restart: async () => {
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
    },
    close: async () => {
      await end("SIGTERM");
      await model.close();
      await rm(data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// A client of the official TypeScript SDK that has a plan approved while it is connected. Prints one observation a line.
//
// Usage: client.mjs PACKAGES stdio PROGRAM SESSION | client.mjs PACKAGES http ADDRESS TOKEN
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, kind, ...places] = process.argv.slice(2);
const installed = createRequire(`${packages}/`);
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");

async function transport() {
  if (kind === "stdio") {
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const [command, session] = places;
    return new StdioClientTransport({ command, args: ["mcp", "--session", session], env: process.env });
  }
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const [address, token] = places;
  return new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
}

const say = (what, value) => console.log(JSON.stringify({ what, value }));
const client = new Client({ name: "sdk", version: "1" });
await client.connect(await transport());
const call = async (name, args) => client.callTool({ name, arguments: args });

say("server", client.getServerVersion().name);
say("tools", (await client.listTools()).tools.map((tool) => tool.name));
const drafted = await call("plan_set_content", { plan_markdown: "# From the SDK\n\n- [ ] one\n" });
say("drafted", drafted.structuredContent);
const refused = await call("plan_progress", { status: "done" });
say("refused", refused.structuredContent);
const decided = await call("plan_await_decision", { timeout_seconds: 50 });
say("decided", decided.structuredContent);
say("reported", (await call("plan_progress", { status: "done" })).isError ?? false);
say("status", (await call("plan_get", {})).structuredContent.status);
await client.close();

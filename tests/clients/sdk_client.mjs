// The official TypeScript SDK against `planwright mcp`: the handshake, the lists and a plan. Prints one observation a line.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const packages = createRequire(`${process.argv[2]}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");

const observed = (what, passed, note = "") =>
  console.log("OBSERVED " + JSON.stringify([what, Boolean(passed), String(note).slice(0, 400)]));

const policy = process.argv[3];
let asked = 0;
const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked += 1;
  // The program that the agent runs in says yes in the person's name.
  const content = {};
  for (const [name, field] of Object.entries(params.requestedSchema?.properties ?? {})) {
    const choices = field.enum ?? field.oneOf?.map((one) => one.const) ?? [true];
    content[name] = choices.find((choice) => String(choice).toLowerCase().includes("approve")) ?? choices[0];
  }
  return { action: "accept", content };
});
const limit = setTimeout(() => {
  observed("the client ends within a minute", false);
  process.exit(1);
}, 60_000);
await client.connect(new StdioClientTransport({ command: "planwright", args: ["mcp"], env: process.env }));
const { name, version } = client.getServerVersion();
observed("handshake", name === "planwright", version);
observed("the instructions say who approves", client.getInstructions().includes("Do not approve the plan yourself"));
const { tools } = await client.listTools();
observed("tools/list", tools.some((tool) => tool.name === "plan_set_content"), tools.map((tool) => tool.name));
observed("every tool has a title and annotations", tools.every((tool) => tool.title && tool.annotations));
const { prompts } = await client.listPrompts();
observed("prompts/list", prompts.some((prompt) => prompt.name === "plan-status"));
const drafted = await client.callTool({ name: "plan_set_content", arguments: { plan_markdown: "# From the SDK\n\n- [ ] one\n" } });
observed("a plan is drafted; the result fits its output schema", drafted.structuredContent?.status === "READY", JSON.stringify(drafted));
const refused = await client.callTool({ name: "plan_progress", arguments: { status: "done" } });
observed("a report before the approval is refused", refused.isError && JSON.stringify(refused.content).includes("approve"));
const { contents } = await client.readResource({ uri: "planwright://plan/active" });
observed("resources/read", contents[0].text.includes("From the SDK"));
const completed = await client.complete({ ref: { type: "ref/prompt", name: "plan-show" }, argument: { name: "plan", value: "" } });
observed("completion/complete", completed.completion.values.includes("1"), JSON.stringify(completed));
await client.callTool({ name: "plan_await_decision", arguments: { timeout_seconds: 1 } });
const { structuredContent: plan } = await client.callTool({ name: "plan_get", arguments: {} });
const note = `asked: ${asked > 0}, status ${plan.status}`;
if (policy === "any") {
  observed("an elicitation that the client answers itself counts under `any`, as documented", asked > 0 && plan.status === "APPROVED", note);
} else {
  observed(`an elicitation that the client answers itself does not approve under \`${policy}\``, plan.status === "READY", note);
}
await client.close();
clearTimeout(limit);

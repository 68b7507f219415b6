// The server that the conformance suite asks for: its tools, resources and prompts under the names that the suite calls. It runs
// upstream of Planwright, so that the suite tests what the gateway passes on.
//
//     node suite_server.mjs PACKAGES
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const packages = createRequire(`${process.argv[2]}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)).href);
const { Server } = await load("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const types = await load("@modelcontextprotocol/sdk/types.js");

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const said = (content) => ({ role: "user", content });
const strings = (names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const titled = (titles) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

const server = new Server(
  { name: "suite-server", version: "1.0.0" },
  { capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} } },
);

const elicit = async (message, properties, required = []) => {
  const requestedSchema = { type: "object", properties, required };
  const answer = await server.request({ method: "elicitation/create", params: { message, requestedSchema } }, types.ElicitResultSchema);
  return { content: [text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)] };
};

const options = ["option1", "option2", "option3"];
// By name: the arguments that are required, or the whole schema, and what a call does.
const tools = {
  test_simple_text: [[], () => ({ content: [text("This is a simple text response for testing.")] })],
  test_image_content: [[], () => ({ content: [image] })],
  test_audio_content: [[], () => ({ content: [{ type: "audio", data: SOUND, mimeType: "audio/wav" }] })],
  test_embedded_resource: [
    [],
    () => ({ content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")] }),
  ],
  test_multiple_content_types: [
    [],
    () => ({
      content: [
        text("Multiple content types test:"),
        image,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ],
    }),
  ],
  test_tool_with_logging: [
    [],
    async () => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await server.sendLoggingMessage({ level: "info", data });
        await sleep(50);
      }
      return { content: [text("Tool execution with logging completed.")] };
    },
  ],
  test_tool_with_progress: [
    [],
    async (_arguments, progressToken) => {
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await server.notification({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
        }
        await sleep(50);
      }
      return { content: [text("Tool execution with progress completed.")] };
    },
  ],
  test_error_handling: [
    [],
    () => ({ content: [text("This tool intentionally returns an error for testing")], isError: true }),
  ],
  test_sampling: [
    ["prompt"],
    async ({ prompt }) => {
      const answer = await server.createMessage({ messages: [said(text(prompt))], maxTokens: 100 });
      return { content: [text(`LLM response: ${answer.content.text}`)] };
    },
  ],
  test_elicitation: [
    ["message"],
    ({ message }) =>
      elicit(
        message,
        {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        },
        ["username", "email"],
      ),
  ],
  test_elicitation_sep1034_defaults: [
    [],
    () =>
      elicit("Please review the values.", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  ],
  test_elicitation_sep1330_enums: [
    [],
    () =>
      elicit("Please choose.", {
        untitledSingle: { type: "string", enum: options },
        titledSingle: { type: "string", oneOf: titled(["First Option", "Second Option", "Third Option"]) },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: options } },
        titledMulti: { type: "array", items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) } },
      }),
  ],
  // The stream of this call is cut before the result, see suite_proxy.py.
  test_reconnection: [
    [],
    async () => {
      await sleep(500);
      return { content: [text("Reconnection test completed successfully.")] };
    },
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    () => ({ content: [text("Taken.")] }),
  ],
};

server.setRequestHandler(types.ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, [schema]]) => ({
    name,
    description: `${name} of the conformance suite`,
    inputSchema: Array.isArray(schema) ? strings(schema) : schema,
  })),
}));
server.setRequestHandler(types.CallToolRequestSchema, ({ params }) => {
  const tool = tools[params.name];
  if (!tool) throw new Error(`there is no tool ${params.name}`);
  return tool[1](params.arguments ?? {}, params._meta?.progressToken);
});

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;
const resources = {
  "test://static-text": ["text/plain", { text: "This is the content of the static text resource." }],
  "test://static-binary": ["image/png", { blob: PIXEL }],
  "test://watched-resource": ["text/plain", { text: "Watched resource content" }],
};
server.setRequestHandler(types.ListResourcesRequestSchema, () => ({
  resources: Object.entries(resources).map(([uri, [mimeType]]) => ({ uri, name: uri.slice(7), description: uri, mimeType })),
}));
server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
}));
server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
  const id = TEMPLATE.exec(uri)?.[1];
  const [mimeType, content] = id
    ? ["application/json", { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }]
    : (resources[uri] ?? []);
  if (!content) throw new Error(`there is no resource ${uri}`);
  return { contents: [{ uri, mimeType, ...content }] };
});
server.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
server.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));

const prompts = {
  test_simple_prompt: [[], () => [said(text("This is a simple prompt for testing."))]],
  test_prompt_with_arguments: [
    ["arg1", "arg2"],
    ({ arg1, arg2 }) => [said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  ],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) => [
      said(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
      said(text("Please process the embedded resource above.")),
    ],
  ],
  test_prompt_with_image: [[], () => [said(image), said(text("Please analyze the image above."))]],
};
server.setRequestHandler(types.ListPromptsRequestSchema, () => ({
  prompts: Object.entries(prompts).map(([name, [names]]) => ({
    name,
    description: `${name} of the conformance suite`,
    arguments: names.map((name) => ({ name, description: name, required: true })),
  })),
}));
server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => {
  const prompt = prompts[params.name];
  if (!prompt) throw new Error(`there is no prompt ${params.name}`);
  return { messages: prompt[1](params.arguments ?? {}) };
});
server.setRequestHandler(types.CompleteRequestSchema, () => ({ completion: { values: ["testing"], total: 1, hasMore: false } }));

await server.connect(new StdioServerTransport());

// The tools that the conformance suite asks for in version 2026-07-28: they ask by the results of calls. Like `suite_server.mjs` it runs
// upstream of Planwright. No SDK is needed: each request stands alone.
//
//     node suite_newest.mjs
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";

const VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";
const KEY = randomBytes(32);

const text = (words) => ({ resultType: "complete", content: [{ type: "text", text: words }] });
const properties = (type, name) => ({ type: "object", properties: { [name]: { type } }, required: [name] });
const elicit = (message, type, name) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: properties(type, name) },
});
const sample = (words) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens: 100 },
});
const roots = { method: "roots/list", params: {} };
const ask = (inputRequests, state) => ({
  resultType: "input_required",
  inputRequests,
  ...(state === undefined ? {} : { requestState: seal(state) }),
});

function sign(payload) {
  return createHmac("sha256", KEY).update(payload).digest("hex");
}
function seal(state) {
  const payload = Buffer.from(JSON.stringify(state)).toString("hex");
  return `${payload}.${sign(payload)}`;
}
function open(sealed) {
  const [payload, signature = ""] = String(sealed).split(".");
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(payload))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid("the requestState was changed");
  return JSON.parse(Buffer.from(payload, "hex").toString());
}

const invalid = (message, code = -32602, data = undefined) => Object.assign(new Error(message), { code, data });

// The content of an accepted answer; nothing of an answer that is missing.
function accepted(responses, name) {
  const answer = responses[name];
  if (answer === undefined) return undefined;
  if (typeof answer !== "object" || answer === null) throw invalid(`the answer ${name} is no object`);
  return answer.content ?? {};
}

// By name: what a call answers, of the client's answers, the state and what the client can be asked.
const tools = {
  test_input_required_result_elicitation: (responses) => {
    const answer = accepted(responses, "user_name");
    return answer ? text(`Hello, ${answer.name}!`) : ask({ user_name: elicit("What is your name?", "string", "name") });
  },
  test_input_required_result_sampling: (responses) => {
    const answer = accepted(responses, "capital_question");
    return answer ? text(`The model says: ${answer.text}`) : ask({ capital_question: sample("What is the capital of France?") });
  },
  test_input_required_result_list_roots: (responses) =>
    responses.client_roots ? text(`Roots: ${JSON.stringify(responses.client_roots.roots)}`) : ask({ client_roots: roots }),
  test_input_required_result_request_state: (responses, state) =>
    state && accepted(responses, "confirm") ? text("state-ok") : ask({ confirm: elicit("Please confirm", "boolean", "ok") }, { step: 1 }),
  test_input_required_result_multiple_inputs: (responses, state) =>
    state && responses.user_name && responses.greeting && responses.client_roots
      ? text("All answers are here.")
      : ask(
          { user_name: elicit("What is your name?", "string", "name"), greeting: sample("Generate a greeting"), client_roots: roots },
          { step: 1 },
        ),
  test_input_required_result_multi_round: (responses, state) => {
    if (state?.step === 2 && responses.step2) return text(`Done: ${state.name}`);
    if (state?.step === 1 && responses.step1) {
      return ask({ step2: elicit("Step 2: What is your favorite color?", "string", "color") }, { step: 2, name: accepted(responses, "step1").name });
    }
    return ask({ step1: elicit("Step 1: What is your name?", "string", "name") }, { step: 1 });
  },
  test_input_required_result_tampered_state: (responses, state) =>
    state && responses.confirm ? text("state-ok") : ask({ confirm: elicit("Please confirm", "boolean", "ok") }, { step: 1 }),
  test_input_required_result_capabilities: (responses, _state, can) => {
    const requests = {};
    if (can.sampling && !responses.capital_question) requests.capital_question = sample("What is the capital of France?");
    if (can.elicitation && !responses.user_name) requests.user_name = elicit("What is your name?", "string", "name");
    return Object.keys(requests).length > 0 ? ask(requests) : text("Nothing to ask.");
  },
  test_missing_capability: (_responses, _state, can) => {
    if (!can.sampling) throw invalid("the client has no model", -32021, { requiredCapabilities: { sampling: {} } });
    return text("The client has a model.");
  },
  test_streaming_elicitation: (responses) =>
    responses.user_name ? text("Answered.") : ask({ user_name: elicit("What is your name?", "string", "name") }),
  test_logging_tool: (_responses, _state, _can, level) => {
    if (level) send({ method: "notifications/message", params: { level, data: "a line of the log" } });
    return text("Logged.");
  },
};

const prompts = {
  test_input_required_result_prompt: (responses) => {
    const answer = accepted(responses, "user_context");
    if (!answer) return ask({ user_context: elicit("What context should the prompt use?", "string", "context") });
    return { resultType: "complete", messages: [{ role: "user", content: { type: "text", text: `Context: ${answer.context}` } }] };
  },
};

const list = (entries) => ({ resultType: "complete", ttlMs: 0, cacheScope: "private", ...entries });

function answer(method, params) {
  const meta = params._meta ?? {};
  const call = (functions) => {
    const make = functions[params.name];
    if (!make) throw invalid(`there is no ${params.name}`);
    const state = params.requestState === undefined ? undefined : open(params.requestState);
    return make(params.inputResponses ?? {}, state, meta[`${META}clientCapabilities`] ?? {}, meta[`${META}logLevel`]);
  };
  switch (method) {
    case "server/discover":
      return list({
        supportedVersions: [VERSION],
        capabilities: { tools: {}, prompts: {}, logging: {} },
        _meta: { [`${META}serverInfo`]: { name: "suite-newest", version: "1.0.0" } },
      });
    case "tools/list":
      return list({
        tools: Object.keys(tools).map((name) => ({
          name,
          description: `${name} of the conformance suite`,
          inputSchema: { type: "object", properties: {} },
        })),
      });
    case "prompts/list":
      return list({ prompts: Object.keys(prompts).map((name) => ({ name, description: `${name} of the conformance suite` })) });
    case "tools/call":
      return call(tools);
    case "prompts/get":
      return call(prompts);
    default:
      throw invalid(`there is no method ${method}`, -32601);
  }
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  try {
    send({ id, result: answer(method, params ?? {}) });
  } catch ({ code = -32603, message, data }) {
    send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }
});

// A model with a script: it speaks chat completions and answers by what the person said last.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { answerTo, type ScriptedReply } from "./script";

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content?: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

export interface ScriptedModel {
  url: string;
  /** Replies wait until this is called as often as they were held. */
  release: () => void;
  hold: () => void;
  close: () => Promise<void>;
}

export async function startModel(): Promise<ScriptedModel> {
  let gate: Promise<void> = Promise.resolve();
  let open: () => void = () => undefined;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: ChatMessage[] };
      void stream(response, answerTo(messages), () => gate);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hold: () => {
      gate = new Promise((resolve) => (open = resolve));
    },
    release: () => open(),
    close: () =>
      new Promise((resolve) => {
        open();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function stream(response: ServerResponse, reply: ScriptedReply, gate: () => Promise<void>): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const chunk = (delta: object, finish: string | null = null) =>
    response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  const pieces = (reply.text ?? "").match(/[\s\S]{1,24}/g) ?? [];
  for (const [index, piece] of pieces.entries()) {
    if (index === Math.floor(pieces.length / 2)) await gate();
    chunk({ content: piece });
    if (reply.slow) await new Promise((resolve) => setTimeout(resolve, reply.slow));
  }
  if (pieces.length === 0) await gate();
  (reply.calls ?? []).forEach(([name, args], index) =>
    chunk({ tool_calls: [{ index, id: `call-${index}-${name}`, type: "function", function: { name, arguments: JSON.stringify(args) } }] }),
  );
  chunk({}, (reply.calls ?? []).length > 0 ? "tool_calls" : "stop");
  response.write('data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20}}\n\n');
  response.end("data: [DONE]\n\n");
}

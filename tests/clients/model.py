"""A model that plays a script. It speaks the Messages API of Anthropic, the Responses and Chat Completions APIs of OpenAI and
the generateContent API of Gemini, so that a real client talks to it as to its own provider."""

import json
import re
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import conversation
import replies
from conversation import Reply


class ScriptedModel:
    """`play` of the script gets the conversation of each request that offers a tool it is known by, and returns a `Reply`;
    `aside` gets the other ones and may return none."""

    def __init__(self, script, log):
        self.script = script
        self.log = log
        self.failures = []
        self.requests = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                model.answer(self)

            def do_GET(self):
                send(self, 200, json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))

            def do_HEAD(self):
                send(self, 200, "")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        length = int(handler.headers.get("content-length") or 0)
        raw = handler.rfile.read(length)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = handler.path.split("?")[0]
        with open(self.log, "a") as log:
            log.write(json.dumps({"path": handler.path, "body": body}) + "\n")
        try:
            if path.endswith("count_tokens"):
                return send(handler, 200, json.dumps({"input_tokens": 100}))
            if path.endswith(":countTokens"):
                return send(handler, 200, json.dumps({"totalTokens": 100}))
            if path.endswith("/messages"):
                read, write = conversation.from_anthropic, replies.anthropic
            elif path.endswith("/chat/completions"):
                read, write = conversation.from_chat, replies.chat
            elif path.endswith("/responses"):
                read, write = conversation.from_responses, replies.responses
            elif re.search(r":(stream)?[gG]enerateContent$", path):
                read, write = conversation.from_gemini, replies.gemini
            else:
                return send(handler, 404, json.dumps({"error": {"message": f"no {path} here", "type": "not_found"}}))
            seen = read(body)
            self.requests.append(seen)
            offered = any(seen.tool(name) or seen.deferred_tool(name) for name in self.script.known_by)
            reply = self.script.play(seen) if offered else self.script.aside(seen) or side_request(body)
            name = body.get("model") or "scripted"
            whole, stream = write(reply, name, reply.tokens)
            streams = body.get("stream") or "streamGenerateContent" in path
            if streams:
                send(handler, 200, stream, "text/event-stream")
            else:
                send(handler, 200, json.dumps(whole))
        except Exception:
            self.failures.append(traceback.format_exc())
            send(handler, 400, json.dumps({"error": {"message": "the script failed", "type": "invalid_request_error"}}))


def side_request(body):
    """Clients ask for titles and the like beside the conversation."""
    text = json.dumps(body)
    if "next_speaker" in text:
        return Reply(text='{"reasoning": "done", "next_speaker": "user"}')
    if '"title"' in text and "json" in text.lower():
        return Reply(text='{"title": "Scripted", "isNewTopic": false}')
    return Reply(text="Scripted")


def send(handler, code, text, kind="application/json"):
    data = text.encode()
    handler.send_response(code)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    try:
        handler.wfile.write(data)
    except (BrokenPipeError, ConnectionResetError):
        pass

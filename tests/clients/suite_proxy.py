"""Stands between the conformance suite and Planwright.

The suite cannot send an access token, and calls its tools, prompts and resources by fixed names. Through the gateway they have the
name of their server: the tool `test_simple_text` is `suite__test_simple_text`, and the resource `test://static-text` is
`planwright://upstream/suite/test://static-text`. The proxy adds the token and translates these names, also in the header `Mcp-Name`. What
begins with the names of `NEWEST_NAMES` is of the second server, which speaks version 2026-07-28.

The suite wants the stream of the call of `test_reconnection` to end before its result. The proxy cuts it after the first event, as a
network may; the suite then asks Planwright for the rest. Everything else passes as it is.
"""

import http.client
import http.server
import json
import socket
import threading

# The name of the suite's own server in Planwright's settings.
SERVER = "suite"
NAME_PREFIX, ADDRESS_PREFIX = f"{SERVER}__", f"planwright://upstream/{SERVER}/"
# The server of the newest protocol, and how its names begin.
NEWEST = "newest"
NEWEST_NAMES = ("test_input_required_", "test_missing_capability", "test_streaming_elicitation", "test_logging_tool")
# How the names and addresses of that server begin.
SUITE_NAMES, SUITE_ADDRESSES = ("test_", "json_schema_"), "test://"
LISTS = ("tools", "prompts", "resources", "resourceTemplates", "contents")
CUT_CALL = NAME_PREFIX + "test_reconnection"
CONNECTION_HEADERS = ("connection", "content-length", "transfer-encoding", "authorization")


def renamed(name):
    """The name or the address that Planwright has for one of the suite."""
    if name.startswith(NEWEST_NAMES):
        return f"{NEWEST}__{name}"
    if name.startswith(SUITE_NAMES):
        return NAME_PREFIX + name
    return ADDRESS_PREFIX + name if name.startswith(SUITE_ADDRESSES) else name


def to_planwright(message):
    """A request of the suite, under the names that Planwright has for the same."""
    params = message.get("params") if isinstance(message, dict) else None
    for of in (params, params.get("ref")) if isinstance(params, dict) else ():
        for key in ("name", "uri"):
            if isinstance(of, dict) and isinstance(of.get(key), str):
                of[key] = renamed(of[key])
    return message


def to_suite(message):
    """A message of Planwright, under the names that the suite knows."""
    result = message.get("result") if isinstance(message, dict) else None
    for one in [one for key in LISTS for one in result.get(key, [])] if isinstance(result, dict) else []:
        for key, prefix in (("name", NAME_PREFIX), ("uri", ADDRESS_PREFIX), ("uriTemplate", ADDRESS_PREFIX)):
            if key in one:
                one[key] = one[key].removeprefix(prefix).removeprefix(f"{NEWEST}__")
    error = message.get("error") if isinstance(message, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    if isinstance(data, dict) and isinstance(data.get("uri"), str):
        data["uri"] = data["uri"].removeprefix(ADDRESS_PREFIX)
    return message


def translated(data, translate):
    """The JSON text with other names; what is no JSON passes as it is."""
    try:
        return json.dumps(translate(json.loads(data))).encode()
    except ValueError:
        return data


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """The suite leaves connections without a word."""


class SuiteProxy:
    def __init__(self, target):
        self.target, self.token = target, ""
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                proxy.forward(self)

            do_GET = do_POST = do_DELETE = do_OPTIONS = forward

            def log_message(self, *words):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def forward(self, client):
        body = client.rfile.read(int(client.headers.get("Content-Length", 0)))
        server = http.client.HTTPConnection("127.0.0.1", self.target, timeout=120)
        server.putrequest(client.command, client.path, skip_host=True, skip_accept_encoding=True)
        for name, value in client.headers.items():
            if name.lower() not in CONNECTION_HEADERS:
                server.putheader(name, renamed(value) if name.lower() == "mcp-name" else value)
        body = translated(body, to_planwright)
        server.putheader("Authorization", f"Bearer {self.token}")
        server.putheader("Content-Length", str(len(body)))
        server.endheaders(body)
        stream = server.sock
        response = server.getresponse()
        client.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in CONNECTION_HEADERS:
                client.send_header(name, value)
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            client.send_header("Connection", "close")
            client.end_headers()
            threading.Thread(target=end_with, args=(client.connection, stream), daemon=True).start()
            self.pass_events(response, client, is_cut=CUT_CALL.encode() in body)
        else:
            body = translated(response.read(), to_suite)
            client.send_header("Content-Length", str(len(body)))
            client.end_headers()
            client.wfile.write(body)

    def pass_events(self, response, client, is_cut):
        client.close_connection = True
        try:
            while line := response.readline():
                name, colon, data = line.partition(b": ")
                if name == b"data" and colon:
                    line = b"data: " + translated(data.rstrip(b"\r\n"), to_suite) + b"\n"
                client.wfile.write(line)
                if is_cut and line == b"\n":
                    return
        except (OSError, http.client.HTTPException):
            # One of the two has left.
            pass


def end_with(client, stream):
    """Ends a stream of events of Planwright when the suite has left."""
    try:
        while client.recv(1):
            pass
        stream.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass

"""A conversation as a model sees it, read from the request of any of the four APIs, and the reply that is written back."""

import json
import re
from dataclasses import dataclass, field


@dataclass
class Call:
    """A call of a tool that the model made, with its result."""

    tool: str
    arguments: dict
    result: str | None = None


@dataclass
class Conversation:
    tools: list
    texts: list
    calls: list = field(default_factory=list)
    # The provider's id of each call, in the order of the calls.
    ids: list = field(default_factory=list)
    # Whether the model calls its tools from JavaScript, as Codex has it for models it knows.
    is_code: bool = False

    def tool(self, name):
        """The client's name of a tool: `plan_get` is `mcp__planwright__plan_get` in Claude Code."""
        found = shortest(self.tools, name)
        # Tools of servers are not described there.
        is_ours = name.startswith("plan_") or name == "init_plan"
        return f"mcp__planwright__{name}" if found is None and is_ours and self.is_code else found

    def deferred_tool(self, name):
        """A tool that Claude Code only names, until the model has asked for it with `ToolSearch`."""
        if "ToolSearch" not in self.tools:
            return None
        return shortest(re.findall(r"^\w+$", self.text(), re.MULTILINE), name)

    def last(self, name):
        """The last answered call of a tool."""
        done = [call for call in self.calls if is_tool(call, name) and call.result is not None]
        return done[-1] if done else None

    def is_last(self, name):
        return bool(self.calls) and is_tool(self.calls[-1], name) and self.calls[-1].result is not None

    def text(self):
        return "\n".join(self.texts)


def shortest(names, name):
    found = [one for one in names if re.search(rf"(^|[^a-z]){re.escape(name)}$", one)]
    return min(found, key=len) if found else None


def is_tool(call, name):
    return re.search(rf"(^|[^a-z]){re.escape(name)}$", call.tool) is not None


@dataclass
class Reply:
    """What the model answers: text, or one call of a tool."""

    text: str = ""
    tool: str | None = None
    # A text for a tool of Codex that takes no JSON.
    arguments: dict | str | None = None
    # How long the conversation is said to be, in tokens. Clients shorten a conversation that is too long.
    tokens: int = 100


def words(content):
    """The text of a message's content, whatever its form."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(words(part) for part in content)
    if isinstance(content, dict):
        for name in ("text", "content", "output", "thinking"):
            if name in content:
                return words(content[name])
        return json.dumps(content)
    return str(content)


def answered(conversation, call_id, result):
    for position, known in enumerate(conversation.ids):
        if known == call_id:
            conversation.calls[position].result = words(result)
            return


def made(conversation, call_id, tool, arguments):
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            arguments = {"raw": arguments}
    conversation.calls.append(Call(tool, arguments))
    conversation.ids.append(call_id)


def from_anthropic(body):
    conversation = Conversation([tool["name"] for tool in body.get("tools", []) if "name" in tool], [words(body.get("system"))])
    for message in body.get("messages", []):
        parts = message["content"]
        for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
            if part["type"] == "tool_use":
                made(conversation, part["id"], part["name"], part["input"])
            elif part["type"] == "tool_result":
                answered(conversation, part["tool_use_id"], part.get("content"))
            else:
                conversation.texts.append(words(part))
    return conversation


def from_chat(body):
    conversation = Conversation([tool["function"]["name"] for tool in body.get("tools") or []], [])
    for message in body.get("messages", []):
        if message["role"] == "tool":
            answered(conversation, message["tool_call_id"], message["content"])
            continue
        conversation.texts.append(words(message.get("content")))
        for call in message.get("tool_calls") or []:
            made(conversation, call["id"], call["function"]["name"], call["function"]["arguments"])
    return conversation


def from_responses(body):
    conversation = Conversation([], [words(body.get("instructions"))])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            code_tools(conversation, item["tools"])
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            # Codex puts the tools of a server into a namespace; a call names both.
            conversation.tools.extend(f"{tool['name']}|{inner['name']}" for inner in tool["tools"])
        elif "name" in tool:
            conversation.tools.append(tool["name"])
    items = body.get("input") or []
    for item in [{"type": "message", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments") or item.get("input")
            called = re.search(r"tools\.(\w+)\(", arguments) if item["name"] == "exec" else None
            made(conversation, item["call_id"], called.group(1) if called else item["name"], arguments)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            answered(conversation, item["call_id"], item["output"])
        elif kind in ("message", "agent_message"):
            conversation.texts.append(words(item.get("content")))
    return conversation


def code_tools(conversation, namespaces):
    """The tools of Codex's code mode: some are called as they are, the others from the JavaScript of `exec`."""
    conversation.is_code = True
    for namespace in namespaces:
        for tool in namespace["tools"]:
            if tool["name"] == "exec":
                conversation.tools.extend(re.findall(r"^### `(\w+)`$", tool["description"], re.MULTILINE))
            else:
                conversation.tools.append(f"{namespace['name']}|{tool['name']}")


def in_code(tool, arguments):
    """The JavaScript that makes one call."""
    return (
        f"try {{ const result = await tools.{tool}({json.dumps(arguments)}); "
        "text(typeof result === 'string' ? result : JSON.stringify(result)); } catch (error) { text(`error: ${error}`); }"
    )


def from_gemini(body):
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    conversation = Conversation([one["name"] for one in declared], [words((body.get("systemInstruction") or {}).get("parts"))])
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionCall" in part:
                call = part["functionCall"]
                made(conversation, call.get("id") or f"{call['name']}-{len(conversation.ids)}", call["name"], call.get("args") or {})
            elif "functionResponse" in part:
                response = part["functionResponse"]
                open_calls = [
                    position
                    for position, call in enumerate(conversation.calls)
                    if call.result is None and call.tool == response["name"]
                ]
                if open_calls:
                    conversation.calls[open_calls[0]].result = json.dumps(response.get("response"))
            elif "text" in part and not part.get("thought"):
                conversation.texts.append(part["text"])
    return conversation

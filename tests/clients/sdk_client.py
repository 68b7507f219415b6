"""The official Python SDK against `planwright mcp`: the handshake, the lists, a plan, and an elicitation that the program answers
itself. Prints one observation a line. The first argument is how the client connects."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, types


def observed(what, passed, note=""):
    print("OBSERVED " + json.dumps([what, bool(passed), str(note)[:400]]), flush=True)


async def main(mode, policy):
    asked = []

    async def accept(_context, params):
        asked.append(params.message)
        schema = getattr(params, "requested_schema", None) or getattr(params, "requestedSchema", None) or {}
        # The program that the agent runs in says yes in the person's name.
        content = {}
        for name, field in (schema.get("properties") or {}).items():
            choices = field.get("enum") or [one.get("const") for one in field.get("oneOf") or []] or [True]
            content[name] = next((choice for choice in choices if "approve" in str(choice).lower()), choices[0])
        return types.ElicitResult(action="accept", content=content)

    server = StdioServerParameters(command="planwright", args=["mcp"], env=None)
    async with Client(server, mode=mode, elicitation_callback=accept, read_timeout_seconds=60) as client:
        version = client.protocol_version
        observed(f"handshake ({mode})", version, version)
        tools = [tool.name for tool in (await client.list_tools()).tools]
        observed("tools/list", {"plan_get", "plan_set_content", "plan_progress", "plan_await_decision"} <= set(tools), tools)
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        observed("prompts/list", "plan-status" in prompts, prompts)
        plan = "# From the SDK\n\n- [ ] one\n"
        drafted = await client.call_tool("plan_set_content", {"plan_markdown": plan})
        observed("a plan is drafted", not drafted.is_error and drafted.structured_content["status"] == "READY", drafted)
        refused = await client.call_tool("plan_progress", {"status": "done"})
        observed("a report before the approval is refused", refused.is_error and "approve" in str(refused.content), refused)
        resource = await client.read_resource("planwright://plan/active")
        observed("resources/read", "From the SDK" in resource.contents[0].text)
        decision = await client.call_tool("plan_await_decision", {"timeout_seconds": 1})
        state = await client.call_tool("plan_get", {})
        status = state.structured_content["status"]
        note = f"asked: {bool(asked)}, status {status}"
        if policy == "any" and version < "2026":
            observed("an elicitation that the client answers itself counts under `any`, as documented", asked and status == "APPROVED", note)
        else:
            what = f"an elicitation that the client answers itself does not approve under `{policy}`"
            observed(what, status == "READY", note)
        del decision


asyncio.run(main(sys.argv[1], sys.argv[2]))

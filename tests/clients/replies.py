"""A reply of the model as each API writes it: whole, or as a stream of events."""

import itertools
import json

NUMBERS = itertools.count(1)


def event(data, name=None):
    line = f"event: {name}\n" if name else ""
    return f"{line}data: {json.dumps(data)}\n\n"


def anthropic(reply, model, tokens=100):
    number = next(NUMBERS)
    usage = {"input_tokens": tokens, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    if reply.tool:
        part = {"type": "tool_use", "id": f"toolu_{number:024}", "name": reply.tool, "input": reply.arguments}
    else:
        part = {"type": "text", "text": reply.text}
    whole = {
        "id": f"msg_{number:024}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [part],
        "stop_reason": "tool_use" if reply.tool else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**part, "input": {}} if reply.tool else {"type": "text", "text": ""}
    if reply.tool:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    else:
        delta = {"type": "text_delta", "text": reply.text}
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]
    return whole, "".join(event(one, one["type"]) for one in events)


def chat(reply, model, tokens=100):
    number = next(NUMBERS)
    message = {"role": "assistant", "content": reply.text or None}
    if reply.tool:
        function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
        message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
    finish = "tool_calls" if reply.tool else "stop"
    base = {"id": f"chatcmpl-{number}", "created": 1, "model": model}
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    whole = {
        **base,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }
    chunk = {**base, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    return whole, "".join(event(one) for one in events) + "data: [DONE]\n\n"


def responses(reply, model, tokens=100):
    number = next(NUMBERS)
    if reply.tool and isinstance(reply.arguments, str):
        item = {
            "type": "custom_tool_call",
            "id": f"ctc_{number}",
            "call_id": f"call_{number}",
            "name": reply.tool,
            "namespace": "functions",
            "input": reply.arguments,
            "status": "completed",
        }
    elif reply.tool:
        space, _, name = reply.tool.rpartition("|")
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": json.dumps(reply.arguments),
            "status": "completed",
        }
        if space:
            item["namespace"] = space
    else:
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }
    usage = {
        "input_tokens": tokens,
        "output_tokens": 10,
        "total_tokens": tokens + 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": model,
        "output": [item],
        "usage": usage,
    }
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, "".join(event({**one, "sequence_number": at}, one["type"]) for at, one in enumerate(events))


def gemini(reply, model, tokens=100):
    part = {"functionCall": {"name": reply.tool, "args": reply.arguments}} if reply.tool else {"text": reply.text}
    whole = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10},
        "modelVersion": model,
    }
    return whole, event(whole)

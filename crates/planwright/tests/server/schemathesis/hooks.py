"""What the description cannot say: which sessions and plans there are, and which fields exclude each other."""

import json
import os
import re
import zlib

import schemathesis
from schemathesis import GenerationMode

# Each with `sessionId`, `id`, `digest` and the `decision` it is for.
PLANS = json.loads(os.environ["PLANWRIGHT_TEST_PLANS"])


@schemathesis.hook
def map_case(context, case):
    in_path = case.path_parameters or {}
    in_query = case.query if isinstance(case.query, dict) else {}
    body = case.body if isinstance(case.body, dict) else {}
    # Only the request decides, so that a run can be repeated.
    chance = zlib.crc32(repr((case.method, case.path, in_path, in_query, case.body)).encode())
    give_key_of_its_own(case, chance)
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return case
    # Which approvers there are is not described, nor that a passphrase excludes a name for the request.
    if case.path.startswith("/api/approvers"):
        if case.headers:
            case.headers.pop("Idempotency-Key", None)
        return case
    for name in ("approver", "passphrase", "passkey"):
        body.pop(name, None)
    if case.path.startswith(("/api/goals", "/api/tasks", "/api/runs", "/api/schedules")):
        about_work(case, in_path, in_query, body)
        return case
    if case.path.startswith("/api/memory"):
        about_memory(PLANS[chance % len(PLANS)], in_query, body)
        return case
    if case.path.startswith("/api/workbook/"):
        about_workbook(body)
        return case
    # What is deleted stays away from the others.
    if chance % 4 != 0 and case.method != "DELETE":
        decision = case.path.rsplit("/", 1)[-1]
        plans = [plan for plan in PLANS if plan["decision"] == decision] or PLANS
        about_something_there(plans[chance // 4 % len(plans)], in_path, in_query, body)
    without_contradictions(in_query, body)
    # Which files there are is not described.
    if case.path.endswith("/files/content"):
        in_query["path"] = "received/note.txt"
    # Which folders there are is not described.
    body.pop("workspace", None)
    # Something has to be said, and the draft may be empty.
    if case.path.endswith("/revise") and isinstance(case.body, dict) and not re.search(r"\S", str(body.get("feedback") or "")):
        body["feedback"] = "shorter"
    return case


def about_memory(plan, in_query, body):
    # Which sessions, scopes and memories there are is not described, nor that a tag has to say something, nor which words are a time.
    for named in (in_query, body):
        if "sessionId" in named:
            named["sessionId"] = plan["sessionId"]
        named.pop("channel", None)
    body.pop("scope", None)
    if body.get("at") is not None:
        body["at"] = "2026-05-07T13:56:00Z"
    if isinstance(body.get("tags"), list):
        body["tags"] = [f"tag{number}" for number, _ in enumerate(body["tags"])]
    if "content" in body and not re.search(r"\S", str(body["content"])):
        body["content"] = "tea"


def about_workbook(body):
    # Which sessions have a workbook is not described, nor which version is the newest one.
    body.pop("channel", None)
    if "sessionId" in body:
        body["sessionId"] = "session-workbook"
    if "version" in body:
        body["version"] = 1


def about_work(case, in_path, in_query, body):
    # Which goals, tasks, runs and schedules there are is not described, nor which words are a time.
    for named in (in_query, body):
        if "sessionId" in named:
            named["sessionId"] = "session-work"
        for name in ("channel", "goalId", "taskId", "timeZone"):
            named.pop(name, None)
    if "id" in in_path:
        in_path["id"] = "1"
    if "cron" in body:
        body["cron"] = "0 9 * * 1"
    if "title" in body and not re.search(r"\S", str(body["title"])):
        body["title"] = "tea"
    if isinstance(body.get("maxExecutions"), float):
        body["maxExecutions"] = int(body["maxExecutions"])
    # A session has a few runs and schedules at once. One of each was made before.
    if case.method == "POST" and case.path == "/api/runs":
        body["taskId"] = "99"
    if case.method == "POST" and case.path == "/api/schedules":
        body["goalId"] = "99"


def about_something_there(plan, in_path, in_query, body):
    if "id" in in_path:
        in_path["id"] = plan["id"]
        if "digest" in body:
            body["digest"] = plan["digest"]
            # Which steps it has is not described.
            body.pop("only", None)
            body.pop("skip", None)
        places = ("sessionId", "channel")
    else:
        for named in (in_path, in_query, body):
            if "sessionId" in named:
                named["sessionId"] = plan["sessionId"]
        places = ("channel",)
    for place in places:
        in_query.pop(place, None)
        body.pop(place, None)


def without_contradictions(in_query, body):
    if isinstance(body.get("comments"), list):
        a_review(body)
    # A body and an address that name different sessions are refused, and so is choosing steps in two ways.
    for name in ("sessionId", "channel"):
        if name in body:
            in_query.pop(name, None)
    if body.get("only") is not None:
        body.pop("skip", None)
    # For JSON Schema 1.0 is a whole number.
    for name in ("only", "skip"):
        if body.get(name) is not None:
            body[name] = [int(step) for step in body[name]]
    if isinstance(body.get("step"), float):
        body["step"] = int(body["step"])


def give_key_of_its_own(case, chance):
    # Under the same key everything but the first request would be refused, whatever is wrong with it.
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r"[\x21-\x7e]{1,200}", key):
        case.headers["Idempotency-Key"] = f"{key}-{chance:x}"


def a_review(body):
    # Which versions and steps there are is not described, nor what a comment needs.
    body["version"] = 0
    for number, comment in enumerate(body["comments"]):
        comment["id"] = f"c{number}"
        if comment["anchor"].get("quote") is not None:
            comment["anchor"].pop("step", None)
        if not re.search(r"\S", comment.get("text") or ""):
            comment["text"] = "why?"

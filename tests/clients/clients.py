"""How each client is prepared and started without a person: its provider is the scripted model, its configuration is what
`planwright install` wrote."""

import glob
import json
import os
import shlex
import shutil
from dataclasses import dataclass
from typing import Callable

# What the model says when it leaves the next message to the person.
PAUSED = "PAUSED-HERE"
PROMPT = "Plan the release notes, wait for the decision, and carry the plan out."


@dataclass
class Client:
    name: str
    title: str
    program: str
    prepare: Callable
    command: Callable
    # The file that names the command of Planwright's server.
    config: str
    # The file of the pack with the hook before a call.
    hook: str
    # What the scenarios are called after, if it is not the name that `planwright install` knows.
    key: str = ""
    # Whether a hook of the pack brings the plan back after a compaction.
    brings_back: bool = False
    # The client's own tool that writes a file, and its arguments.
    write: tuple | None = None
    # The client's own tool that runs a command, and its arguments.
    shell: Callable | None = None
    # The command for a conversation that is shortened in the middle, if it is another one.
    long_command: Callable | None = None
    # The command with which the client itself asks about edits and commands, if it is another one.
    asking_command: Callable | None = None
    # Whether the client asks its person when the hook says so.
    asks: bool = False
    # The client's own tool that reads a file, and its arguments.
    read: tuple | None = None
    # Its tool for a cell of a notebook, and the arguments, if it has one.
    notebook: tuple | None = None
    # The calls that give a task to a sub-agent.
    delegate: Callable | None = None
    # A call that writes a file and is known as one, if `write` is a command of a shell.
    covered_write: tuple | None = None
    # Whether its hooks see the calls of a sub-agent.
    hooks_of_sub_agents: bool = True
    # What its hooks are told and may say: results of calls, failures, a hint after a call, and the end of a turn.
    tells_results: bool = True
    tells_failures: bool = True
    hints: bool = True
    stops: bool = True


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    merged = {}
    if os.path.exists(path):
        with open(path) as file:
            merged = json.load(file)
    merged.update(value)
    with open(path, "w") as file:
        json.dump(merged, file, indent=2)


def prepare_claude(stage, address):
    # The person has agreed to the server of this project, which Claude Code asks once.
    write_json(f"{stage.project}/.claude/settings.local.json", {"enableAllProjectMcpServers": True})
    write_json(
        f"{stage.home}/.claude.json",
        {"hasCompletedOnboarding": True, "projects": {stage.project: {"hasTrustDialogAccepted": True}}},
    )
    return {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "MCP_TOOL_TIMEOUT": "300000",
        # Without a person Claude Code begins before a slow server is connected, unless it is told to wait.
        "MCP_CONNECTION_NONBLOCKING": "false",
    }


def claude_command(prompt):
    return (
        f"claude -p {shlex.quote(prompt)} --model claude-sonnet-4-5 --output-format json "
        "--allowedTools mcp__planwright Write Bash Edit"
    )


def asking_claude_command(prompt):
    """In its default mode Claude Code asks about edits and commands; without a person that is a refusal."""
    return f"claude -p {shlex.quote(prompt)} --model claude-sonnet-4-5 --output-format json --allowedTools mcp__planwright"


def claude_message(text):
    return shlex.quote(json.dumps({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}))


def claude_wait(text, tenths=600):
    """Waits until Claude Code has written this; it is over after a minute in any case."""
    return f"n=0; until grep -q {text} claude.out 2>/dev/null || [ $n -gt {tenths} ]; do n=$((n + 1)); sleep 0.1; done"


def planning_claude_command(prompt):
    """It has its plan mode only where a program can answer its questions. Here no program does: an unanswered question would hold
    it up for ever."""
    return (
        f"( echo {claude_message(prompt)}; {claude_wait('type.*result.*duration', 1200)} ) | "
        "claude -p --model claude-sonnet-4-5 --input-format stream-json --output-format stream-json --verbose "
        "--permission-prompt-tool stdio --permission-mode plan --allowedTools mcp__planwright Write > claude.out; cat claude.out"
    )


def long_claude_command(prompt):
    """One conversation of three messages: the prompt, `/compact`, and a word to continue. Each is sent when the one before it is
    answered."""
    return (
        f"( echo {claude_message(prompt)}; {claude_wait('result.*' + PAUSED)}; echo {claude_message('/compact')}; "
        f"{claude_wait('compact_boundary')}; echo {claude_message('Continue.')} ) | "
        "claude -p --model claude-sonnet-4-5 --input-format stream-json --output-format stream-json --verbose "
        "--allowedTools mcp__planwright Write Bash Edit > claude.out; cat claude.out"
    )


def prepare_codex(stage, address):
    path = f"{stage.home}/.codex/config.toml"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    before = ""
    if os.path.exists(path):
        with open(path) as file:
            before = file.read()
    if "[model_providers.scripted]" in before:
        before = before[before.index("\n\n") + 2 : before.index("\n[model_providers.scripted]")]
    with open(path, "w") as file:
        file.write(
            'model = "scripted"\nmodel_provider = "scripted"\n\n'
            + before
            + f'\n[model_providers.scripted]\nname = "scripted"\nbase_url = "{address}/v1"\nwire_api = "responses"\n'
            + 'env_key = "SCRIPTED_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
            + f'\n[projects."{stage.project}"]\ntrust_level = "trusted"\n'
        )
    return {"SCRIPTED_KEY": "scripted"}


def codex_command(prompt):
    """Without a person nobody trusts the hooks, which `/hooks` does."""
    return f"codex exec --json --dangerously-bypass-hook-trust --sandbox danger-full-access {shlex.quote(prompt)}"


def code_mode_command(prompt):
    """Models that Codex knows call their tools from JavaScript."""
    return f"{codex_command(prompt)} -c model=gpt-6.1-sol"


def prepare_opencode(stage, address):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{address}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"name": "Scripted", "limit": {"context": 200000, "output": 8000}}},
    }
    write_json(
        f"{stage.home}/.config/opencode/opencode.json",
        {"provider": {"scripted": provider}, "model": "scripted/scripted", "small_model": "scripted/scripted"},
    )
    copy_opencode_packages(stage)
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def copy_opencode_packages(stage):
    """opencode installs what plugins need from npm, in every project and every home anew. Here it finds what a scenario before installed."""
    installed = glob.glob(f"{stage.repository}/target/clients/stages/opencode.*/project/.opencode/node_modules/.package-lock.json")
    for folder in (f"{stage.project}/.opencode", f"{stage.home}/.config/opencode") if installed else ():
        found = os.path.dirname(os.path.dirname(installed[0]))
        if found != folder:
            shutil.copytree(f"{found}/node_modules", f"{folder}/node_modules", symlinks=True, dirs_exist_ok=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copy(f"{found}/{name}", folder)


def opencode_command(prompt):
    return f"opencode run --print-logs {shlex.quote(prompt)}"


def prepare_gemini(stage, address):
    write_json(
        f"{stage.home}/.gemini/settings.json",
        {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": True}},
    )
    return {
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": address,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_SANDBOX": "false",
    }


def planning_gemini_command(prompt):
    return f"gemini -m gemini-2.5-pro --approval-mode plan --output-format json -p {shlex.quote(prompt)}"


def gemini_command(prompt):
    return f"gemini -m gemini-2.5-pro --approval-mode yolo --output-format json -p {shlex.quote(prompt)}"


def begin_goose(stage):
    """goose has an extension of its own before Planwright is installed."""
    folder = f"{stage.home}/.config/goose"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/config.yaml", "w") as file:
        file.write(
            "# the shell\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n"
            "    timeout: 300\n    bundled: true\n"
        )


def prepare_goose(stage, address):
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "gpt-4o",
        "OPENAI_HOST": address,
        "OPENAI_API_KEY": "scripted",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_DISABLE_SESSION_NAMING": "true",
    }


def long_goose_command(prompt):
    """goose looks at the length when a message begins, so a second one goes on with the conversation."""
    return f"goose run -n work -t {shlex.quote(prompt)}; goose run -n work -r -t Continue."


def goose_command(prompt):
    return f"goose run --no-session -t {shlex.quote(prompt)}"


def patch(path, text):
    return f"*** Begin Patch\n*** Add File: {path}\n+{text}*** End Patch\n"


# A file that is added by a patch. A model that Codex does not know has no tool for it and patches in its shell.
PATCH = ("apply_patch", patch)
SHELL_PATCH = ("exec_command", lambda path, text: {"cmd": f"apply_patch <<'EOF'\n{patch(path, text)}EOF"})

CLIENTS = {
    client.key or client.name: client
    for client in [
        Client(
            "claude-code",
            "Claude Code",
            "claude",
            prepare_claude,
            claude_command,
            "{project}/.mcp.json",
            hook="{project}/.claude/settings.json",
            brings_back=True,
            write=("Write", lambda path, text: {"file_path": path, "content": text}),
            shell=("Bash", lambda line: {"command": line, "description": "Run it"}),
            long_command=long_claude_command,
            asking_command=asking_claude_command,
            asks=True,
            read=("Read", lambda path: {"file_path": path}),
            notebook=("NotebookEdit", lambda path: {"notebook_path": path, "new_source": "1", "cell_type": "code", "edit_mode": "insert"}),
            delegate=lambda task: [("Agent", {"description": "Do it", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False})],
        ),
        Client(
            "codex",
            "Codex",
            "codex",
            prepare_codex,
            codex_command,
            "{home}/.codex/config.toml",
            hook="{home}/.codex/hooks.json",
            brings_back=True,
            # Its model writes files with patches in its shell.
            write=("exec_command", lambda path, text: {"cmd": f"printf %s {shlex.quote(text)} > {shlex.quote(path)}"}),
            shell=("exec_command", lambda line: {"cmd": line}),
            covered_write=SHELL_PATCH,
            # Its model reads files in its shell.
            read=("exec_command", lambda path: {"cmd": f"cat {shlex.quote(path)}"}),
            tells_failures=False,
            delegate=lambda task: [
                ("spawn_agent", {"message": task}),
                ("wait_agent", lambda conversation: {"targets": [json.loads(conversation.last("spawn_agent").result)["agent_id"]], "timeout_ms": 60000}),
            ],
            long_command=lambda prompt: f"{codex_command(prompt)} -c model_auto_compact_token_limit=100000",
        ),
        Client(
            "codex",
            "Codex, code mode",
            "codex",
            prepare_codex,
            code_mode_command,
            "{home}/.codex/config.toml",
            hook="{home}/.codex/hooks.json",
            key="codex-code",
            write=PATCH,
            shell=("exec_command", lambda line: {"cmd": line}),
            read=("exec_command", lambda path: {"cmd": f"cat {shlex.quote(path)}"}),
            tells_failures=False,
            delegate=lambda task: [("spawn_agent", {"message": task, "task_name": "do_it"}), ("wait_agent", {"timeout_ms": 60000})],
        ),
        Client(
            "opencode",
            "opencode",
            "opencode",
            prepare_opencode,
            opencode_command,
            "{project}/opencode.json",
            hook="{project}/.opencode/plugin/planwright.js",
            brings_back=True,
            write=("write", lambda path, text: {"filePath": path, "content": text}),
            shell=("bash", lambda line: {"command": line, "description": "Run it"}),
            read=("read", lambda path: {"filePath": path}),
            delegate=lambda task: [("task", {"description": "Do it", "prompt": task, "subagent_type": "general"})],
            stops=False,
        ),
        Client(
            "gemini",
            "Gemini CLI",
            "gemini",
            prepare_gemini,
            gemini_command,
            "{home}/.gemini/extensions/planwright/gemini-extension.json",
            hook="{home}/.gemini/extensions/planwright/hooks/hooks.json",
            write=("write_file", lambda path, text: {"file_path": path, "content": text}),
            shell=("run_shell_command", lambda line: {"command": line, "description": "Run it"}),
            read=("read_file", lambda path: {"file_path": path}),
            delegate=lambda task: [("invoke_agent", {"agent_name": "generalist", "prompt": task})],
        ),
        Client(
            "goose",
            "goose",
            "goose",
            prepare_goose,
            goose_command,
            "{home}/.config/goose/config.yaml",
            hook="{home}/.agents/plugins/planwright/hooks/hooks.json",
            write=("write", lambda path, text: {"path": path, "content": text}),
            shell=("shell", lambda line: {"command": line}),
            read=("shell", lambda path: {"command": f"cat {shlex.quote(path)}"}),
            delegate=lambda task: [("delegate", {"instructions": task})],
            hooks_of_sub_agents=False,
            long_command=long_goose_command,
            tells_results=False,
            hints=False,
        ),
    ]
}

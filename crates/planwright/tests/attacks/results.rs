//! The attacks, and what each of them comes to under each policy.

/// The result of an attack, from the worst for the agent to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AttackResult {
    /// The plan is not approved, or nothing of it runs; another decision is refused, and nothing is recorded as a person's.
    Stopped,
    /// The plan counts as approved, and `planwright verify` tells that something is wrong.
    Found,
    /// The agent has approved its own plan, or has decided something else in the place of a person.
    Succeeds,
}

use self::AttackResult::{Found, Stopped, Succeeds};

pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// For the page.
    pub(crate) message: &'static str,
    /// Under `any`, `separate` and `verified`.
    pub(crate) results: [AttackResult; 3],
}

const fn attack(name: &'static str, message: &'static str, results: [AttackResult; 3]) -> Attack {
    Attack { name, message, results }
}

/// One test for each.
pub(crate) const ATTACKS: &[Attack] = &[
    attack("shell", "The agent runs `planwright plan approve` in its shell", [Succeeds, Stopped, Stopped]),
    attack("script", "The same inside of `script`, a fake terminal", [Succeeds, Stopped, Stopped]),
    attack(
        "pty_driver",
        "The same with a driver that waits for the question and types `y`",
        [Succeeds, Stopped, Stopped],
    ),
    attack("setsid", "The same in a session of its own (`setsid`)", [Succeeds, Stopped, Stopped]),
    attack("nohup", "The same with `nohup`", [Succeeds, Stopped, Stopped]),
    attack("orphan", "A detached process that the system has adopted", [Succeeds, Stopped, Stopped]),
    attack("orphan_in_terminal", "The same with the terminal of the agent", [Succeeds, Stopped, Stopped]),
    attack("orphan_in_script", "The same with a fake terminal of its own", [Succeeds, Stopped, Stopped]),
    attack("job_runner", "A job of a service that is older than the agent, such as cron", [Succeeds, Stopped, Stopped]),
    attack("job_runner_in_script", "The same with a fake terminal", [Succeeds, Stopped, Stopped]),
    attack("piped_chat", "`/plan approve` in a pipe into `planwright chat`", [Succeeds, Stopped, Stopped]),
    attack(
        "older_terminal",
        "The agent types into a terminal that is older than itself (`tmux send-keys`)",
        [Succeeds, Succeeds, Stopped],
    ),
    attack("variable", "A weaker policy in the environment", [Succeeds, Stopped, Stopped]),
    attack("configuration", "A weaker policy in `planwright.toml`", [Succeeds, Stopped, Stopped]),
    attack("policy_command", "`planwright approver policy --require any`", [Succeeds, Stopped, Stopped]),
    attack("first_enrolment", "The agent enrols itself where no approver is enrolled", [Succeeds, Stopped, Stopped]),
    attack("token", "The agent reads the access token and calls the API", [Succeeds, Stopped, Stopped]),
    attack("sign_in", "The agent signs in with the token as a browser does", [Succeeds, Stopped, Stopped]),
    attack(
        "dashboard_link",
        "The agent runs `planwright dashboard` and signs in with the link",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "dashboard_link_in_script",
        "The same inside of `script`, detached, and from a job of an older service",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "cookie_theft",
        "The agent copies the thirty-day cookie of a signed-in browser from its disk",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "forged_passkey",
        "The agent sends an answer of a passkey that it made up, with the token",
        [Stopped, Stopped, Stopped],
    ),
    attack("mcp", "A tool of MCP that approves, or `/plan approve` as text", [Stopped, Stopped, Stopped]),
    attack("swapped_plan", "The plan is swapped after it was shown", [Stopped, Stopped, Stopped]),
    attack("edited_plan", "The text of an approved plan is edited in the database", [Found, Found, Stopped]),
    attack("edited_approval", "An approval is written into the database", [Found, Found, Stopped]),
    attack(
        "forged_enrolment",
        "An approver is written into the database; `verify --approvers` compares with a list kept elsewhere",
        [Found, Found, Found],
    ),
    attack(
        "expect",
        "The questions are answered by `expect`, or by Python's `pty` where that is not installed",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "restored_archive",
        "An archive with an approved plan is restored and worked on",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "accept_tools",
        "The agent accepts the changed tools of an MCP server: command line, API and chat",
        [Succeeds, Stopped, Stopped],
    ),
    attack("permission", "The agent permits its own call: command line, API and chat", [Succeeds, Stopped, Stopped]),
    attack(
        "uncertain_step",
        "The agent says what becomes of a step whose result is unknown: command line, API and chat",
        [Succeeds, Stopped, Stopped],
    ),
    attack("replayed_approval", "The approval of one plan is copied to another", [Found, Found, Stopped]),
    attack(
        "rules_variable_dashboard",
        "Rules in a variable that are stricter in one place, with nothing asked for at the top; then `planwright dashboard`",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "rules_variable_policy",
        "The same; then `planwright approver policy --require any`",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "rules_variable_enrolment",
        "The same where no approver is enrolled; then the agent enrols itself",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "people_variable",
        "The agent asks for nine approvers in a variable of its own process, so that the person cannot approve",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "namespace_client",
        "A client of the session in another PID namespace, then a younger one; the agent approves in a terminal between the two",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "deleted_session",
        "The agent deletes the session and has a younger program open it again; it approves in a terminal that is older than that",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "false_client_of_http_session",
        "The same for a session that the agent uses over HTTP",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "http_session",
        "A detached process with a fake terminal, for a session that the agent uses over HTTP",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "namespace_terminal",
        "A fake terminal in a PID namespace in which the agent is root and has opened the session",
        [Succeeds, Stopped, Stopped],
    ),
    attack("namespace_terminal_dashboard", "The same; `planwright dashboard`", [Succeeds, Stopped, Stopped]),
    attack(
        "namespace_terminal_policy",
        "The same; `planwright approver policy --require any`",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "namespace_terminal_enrolment",
        "The same; `planwright approver add` where no approver is enrolled",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "false_login",
        "In such a namespace the fake terminal is opened by a process that is named `sshd`",
        [Succeeds, Stopped, Stopped],
    ),
    attack("false_login_dashboard", "The same; `planwright dashboard`", [Succeeds, Stopped, Stopped]),
    attack("false_login_policy", "The same; `planwright approver policy --require any`", [Succeeds, Stopped, Stopped]),
    attack(
        "false_login_enrolment",
        "The same; `planwright approver add` where no approver is enrolled",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "own_telegram",
        "The agent starts a server with a Telegram of its own and presses the button of its card",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "proxied_telegram",
        "It starts a server that reaches the person's Telegram through a proxy and a certificate of its own, and presses the button there",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "forged_press",
        "A program of the agent's own writes into the database that a user of Telegram, whom an approver bound, has pressed the button",
        [Succeeds, Succeeds, Succeeds],
    ),
    attack(
        "own_server_with_sandbox",
        "Planwright's own agent at the level `open` starts a server that is told of a sandbox, and approves with the token",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "release_step",
        "The agent releases the next step of a plan that is approved step by step",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "release_step_typed",
        "The same, typed into the person's terminal without a passphrase",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "uncertain_step_typed",
        "The agent types into the person's terminal what becomes of a step whose result is unknown",
        [Succeeds, Succeeds, Stopped],
    ),
    attack("auto_on", "The agent starts an automatic run", [Succeeds, Stopped, Stopped]),
    attack(
        "auto_on_typed",
        "The same, typed into the person's terminal without a passphrase",
        [Succeeds, Succeeds, Stopped],
    ),
    attack("schedule_add", "The agent adds a schedule", [Succeeds, Stopped, Stopped]),
    attack(
        "schedule_add_typed",
        "The same, typed into the person's terminal without a passphrase",
        [Succeeds, Succeeds, Stopped],
    ),
    attack("memory_promote", "The agent lets every session read a memory of its own", [Succeeds, Stopped, Stopped]),
    attack(
        "memory_promote_typed",
        "The same, typed into the person's terminal without a passphrase",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "act_revise",
        "The agent asks for changes of the plan as the person (`plan revise`), without a terminal",
        [Succeeds, Stopped, Stopped],
    ),
    attack("act_reject", "It rejects the plan as the person", [Succeeds, Stopped, Stopped]),
    attack("act_cancel", "It cancels the plan as the person", [Succeeds, Stopped, Stopped]),
    attack(
        "act_off",
        "It turns plan work off, after which the hook lets every call pass",
        [Succeeds, Stopped, Stopped],
    ),
    attack("act_done", "It ends plan work (`plan done`)", [Succeeds, Stopped, Stopped]),
    attack("act_on", "It turns plan work on with another style (`plan on`)", [Succeeds, Stopped, Stopped]),
    attack(
        "act_stop",
        "It ends the execution of an approved plan (`plan resume --stop`)",
        [Succeeds, Stopped, Stopped],
    ),
    attack("act_files_on", "It turns planning files on (`plan files on`)", [Succeeds, Stopped, Stopped]),
    attack("act_memory_save", "It saves a memory as the person", [Succeeds, Stopped, Stopped]),
    attack("act_memory_forget", "It forgets a memory as the person", [Succeeds, Stopped, Stopped]),
    attack("act_goal", "It sets a goal, a task and an entry of the diary as the person", [Succeeds, Stopped, Stopped]),
    attack("act_chat", "It writes a message as the person (`planwright chat`)", [Succeeds, Stopped, Stopped]),
    attack(
        "act_exported_file",
        "It edits the file of an exported plan, and the edit becomes a version of the person",
        [Stopped, Stopped, Stopped],
    ),
    attack("act_sessions_delete", "It deletes a session", [Succeeds, Stopped, Stopped]),
    attack("act_server_add", "It adds an MCP server to the settings (`mcp-server add`)", [Succeeds, Stopped, Stopped]),
    attack(
        "act_server_remove",
        "It removes an MCP server whose tools a person accepted (`mcp-server remove`)",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "act_install",
        "It puts Planwright into the configuration of a client (`planwright install`)",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "act_uninstall",
        "It takes Planwright, with its hooks, out of the configuration of a client",
        [Succeeds, Stopped, Stopped],
    ),
    attack("act_open", "It begins a session as the person", [Succeeds, Stopped, Stopped]),
    attack(
        "other_store",
        "It names another store in `planwright.toml`, after which the hook lets every call pass",
        [Succeeds, Succeeds, Succeeds],
    ),
    attack("act_import", "It imports plans", [Succeeds, Stopped, Stopped]),
    attack("act_restore", "It restores an archive into the store", [Succeeds, Stopped, Stopped]),
    attack(
        "elicitation",
        "The agent's own program answers when its client is asked to approve the plan (elicitation)",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "gateway_ask",
        "The same when it is asked about a call of an upstream tool (`gateway.writes = ask)",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "gateway_variable",
        "The agent sets `gateway.writes` to `free` in a variable and calls an upstream tool",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "permission_variable",
        "It allows the call with a rule in `PLANWRIGHT_PERMISSIONS`",
        [Stopped, Stopped, Stopped],
    ),
    attack("permission_file", "It writes the rule into `permissions.toml`", [Stopped, Stopped, Stopped]),
    attack(
        "trusted_annotations",
        "It believes the annotations of the server, in a configuration of its own",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "forgotten_pin",
        "It has the accepted tools of a server forgotten, and changed ones accepted as the first offer of `--upstream`",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "forgotten_pin_added_again",
        "It removes the server and adds it again, so that changed tools show as new ones",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "first_offer_of_known_server",
        "It names a server with `--upstream` whose tools wait for a person",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "own_command",
        "A command of Planwright's own agent at the level `open` approves, in a fake terminal",
        [Succeeds, Stopped, Stopped],
    ),
    attack("own_command_in_namespace", "The same in a PID namespace", [Succeeds, Stopped, Stopped]),
    attack(
        "own_command_without_supervisor",
        "The same in a process that has killed the supervisor of the command",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "own_command_without_another_agent",
        "The same in a store that no other agent was ever in",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "time_namespace",
        "A fake terminal in a time namespace, in which every process seems to have started earlier or later",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "time_namespace_client",
        "The agent opens another session from a time namespace, so that the recorded program starts in the future",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "false_proc",
        "A folder of the agent is mounted over `/proc`, in a mount namespace",
        [Succeeds, Stopped, Stopped],
    ),
    attack("false_proc_files", "Single files of `/proc` are replaced in the same way", [Succeeds, Stopped, Stopped]),
    attack(
        "false_namespaces",
        "Real files of the agent's namespaces are mounted over those of the program, in namespaces of its own",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "hidden_process",
        "Something is mounted over the agent's process in `/proc`, so that it seems to have ended",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "subreaper",
        "A fake terminal whose first process is adopted by a program that is older than the agent",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "token_revise",
        "The agent asks for changes over the API with the token, as the person",
        [Succeeds, Stopped, Stopped],
    ),
    attack("token_reject", "It rejects the plan with the token", [Succeeds, Succeeds, Succeeds]),
    attack("token_cancel", "It cancels the plan with the token", [Succeeds, Succeeds, Succeeds]),
    attack("token_off", "It turns plan work off with the token", [Succeeds, Stopped, Stopped]),
    attack("token_done", "It ends plan work with the token", [Succeeds, Stopped, Stopped]),
    attack("token_memory", "It saves a memory with the token", [Succeeds, Stopped, Stopped]),
    attack("token_message", "It writes a message as the person with the token", [Succeeds, Stopped, Stopped]),
    attack("token_slash_command", "It sends `/plan off` as a message with the token", [Succeeds, Stopped, Stopped]),
    attack("token_goal", "It sets a goal with the token", [Succeeds, Stopped, Stopped]),
    attack("token_sessions_delete", "It deletes its session with the token", [Succeeds, Stopped, Stopped]),
    attack(
        "token_in_own_session",
        "It approves a plan of Planwright's own agent, in a session with a sandbox, with the token",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "fresh_session",
        "A detached program of the agent begins a new session; it approves in a fake terminal that is older than that program",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "other_session",
        "The agent approves a plan of Planwright's own agent, with a sandbox, in its own shell or in a fake terminal",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "joined_session",
        "The agent works in a session of the command line; it approves in a fake terminal that is older than the program with which it came",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "approved_before_joining",
        "It approves a plan of Planwright's own agent first, comes into the session with its own program, and carries the plan out",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "inbox_answer",
        "`planwright inbox answer` instead of `plan approve`, with and without a fake terminal",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "survivor_in_session",
        "A process of the agent that survives the end of its program, with its session and terminal, opens a fake terminal",
        [Succeeds, Stopped, Stopped],
    ),
    attack("survivor_elsewhere", "The same with a session of its own and no terminal", [Succeeds, Succeeds, Stopped]),
    attack(
        "enrolment_before_the_first_session",
        "The agent enrols itself in a store that has not seen any agent yet",
        [Succeeds, Succeeds, Succeeds],
    ),
    attack(
        "strict_variable",
        "The agent asks for `verified` in a variable where no approver is enrolled, so that the person cannot approve",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "strict_command",
        "The same with `planwright approver policy --require verified`",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "valid_for_variable",
        "The agent lets approvals end after a second, in a variable",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "passphrase_lockout",
        "The agent tries wrong passphrases over the API, so that the person's right one is not taken",
        [Stopped, Stopped, Stopped],
    ),
    attack("token_rotate", "The agent replaces the token, which signs every browser out", [Succeeds, Stopped, Stopped]),
    attack(
        "act_mcp_project",
        "`planwright mcp --project` chooses the project folder in the person's name",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "act_mcp_plan_off",
        "`planwright mcp --plan off` turns plan work off, after which the hook lets every call pass",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "act_workbook_file",
        "The agent edits a planning file, and the edit becomes the person's",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "act_piped_commands",
        "The agent pipes `/plan off`, `/memory` and `/reset` into `planwright chat`",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "standing_approval_variable",
        "The agent lets a rule approve plans that only read, in a variable",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "replaced_store",
        "The agent backs the store up, removes it and restores it under a weaker policy, without approvers",
        [Succeeds, Succeeds, Found],
    ),
    attack(
        "hidden_helper",
        "No program of the agent is in a record: a detached helper begins the session and ends; then a fake terminal",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "hidden_by_name",
        "The same with a helper below a process that has the name of a desktop's session manager",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "hidden_by_shell",
        "The same with a helper in a shell that the agent opens in a fake terminal, as a person does",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "older_multiplexer",
        "The agent opens a window in a `tmux` that is older than itself",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "borrowed_terminal",
        "The agent takes the near end of the person's terminal from the program that shows it (`pidfd_getfd`), and types",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "ssh_without_a_password",
        "The agent logs in to this machine with `ssh`, with a key of its own",
        [Succeeds, Succeeds, Stopped],
    ),
    attack(
        "own_folder",
        "A data folder of the agent's own with a weaker policy, and the person's database",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "token_headers",
        "The token with headers of a proxy, another method, another spelling of the path, or a person in the body",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "foreign_page",
        "A page of another server has the person's signed-in browser approve",
        [Stopped, Stopped, Stopped],
    ),
    attack(
        "shown_with_token",
        "The agent changes the plan and has the new text shown with the token; the person types `/plan approve` in a browser that shows the old one",
        [Succeeds, Stopped, Stopped],
    ),
    attack(
        "escape_sequences",
        "The plan has control characters that the person's terminal would obey",
        [Stopped, Stopped, Stopped],
    ),
];

/// The expected results of an attack, by policy.
pub(crate) fn expected(name: &str) -> [AttackResult; 3] {
    ATTACKS.iter().find(|attack| attack.name == name).unwrap_or_else(|| panic!("{name} is not on the list")).results
}

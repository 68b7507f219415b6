//! Every metric's name and description. Names are part of the public contract.

#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
}

const fn name(name: &'static str, help: &'static str) -> Name {
    Name { name, help }
}

/// By `channel` and `session`.
pub(super) const PLAN_MODE_ENABLED: Name =
    name("plan_mode_enabled_count", "How often plan mode was turned on, by session.");
pub(super) const PLAN_MODE_ACTIVE: Name =
    name("plan_mode_active_sessions", "Sessions of the store in which plan mode is on.");
pub(super) const MISMATCH_BLOCKED: Name = name(
    "routing_session_mismatch_blocked_count",
    "Requests that named a plan of one session under another, and were answered with 404.",
);

pub(super) const MEMORY_GOAL_SELECTED: Name =
    name("memory_scope_goal_selected_count", "Reads of memories that included the scope of a goal.");
pub(super) const MEMORY_TASK_SELECTED: Name =
    name("memory_scope_task_selected_count", "Reads of memories that included the scope of a task.");
pub(super) const MEMORY_BLOCKED: Name = name(
    "memory_scope_cross_session_blocked_count",
    "Rows of memories that belong to another session than the one that read, and were dropped.",
);

/// By `runKind` and `channel`.
pub(super) const AUTO_RUN_STARTED: Name = name("auto_run_started_count", "Runs that were started.");
/// By `runKind` and `status`.
pub(super) const AUTO_RUN_COMPLETED: Name = name("auto_run_completed_count", "Runs that ended, by how they ended.");

/// By `method`, `route` and `status`.
pub(super) const HTTP_REQUESTS: Name = name("http_requests_total", "Requests that were answered.");
/// By `route`.
pub(super) const HTTP_REQUEST_SECONDS: Name =
    name("http_request_seconds", "From a request's headers until its answer begins.");
pub(super) const WEBSOCKETS: Name = name("websocket_connections", "Open WebSocket connections.");
/// By `end`.
pub(super) const TURNS: Name = name("turns_total", "Turns that ended in this process, by outcome.");

pub(super) const LOG_LINES_LOST: Name =
    name("log_lines_lost_count", "Log lines of this process that could not be written.");

pub(super) const STORE_UP: Name = name("store_up", "Whether the store answered with the numbers below.");
pub(super) const SESSIONS: Name = name("sessions", "Sessions in the store.");
pub(super) const OPEN_TURNS: Name = name("open_turns", "Sessions with a turn that has not ended.");
pub(super) const PLANS_READY: Name = name("plans_ready", "Plans that wait for a decision.");
pub(super) const PLANS_EXECUTING: Name = name("plans_executing", "Plans that are executing.");

pub(super) const COUNTERS: [Name; 8] = [
    MISMATCH_BLOCKED,
    MEMORY_GOAL_SELECTED,
    MEMORY_TASK_SELECTED,
    MEMORY_BLOCKED,
    AUTO_RUN_STARTED,
    AUTO_RUN_COMPLETED,
    HTTP_REQUESTS,
    TURNS,
];

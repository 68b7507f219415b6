//! `planwright hook`: what a client's hooks call. It opens the store and nothing else, because a client waits for it before
//! every call of a tool. When it cannot tell, it denies: most clients let a call pass that a hook says nothing about.
//!
//! - `after_call`: a call that has ended, noted in the workbook
//! - `approved`: what an approved plan permits
//! - `at_stop`: the reminder of open steps
//! - `changed_files`: the files that a call changes
//! - `client_files`: the entries of servers in the files of each client
//! - `counts`: how calls were permitted, counted with the plan
//! - `deadline`: one answer, in time
//! - `inbox`: calls that a person is asked about in Planwright's inbox
//! - `memory`: what the hooks remember of a session
//! - `network`: the hosts that a plan names
//! - `outcome`: how a call of a client's tool ended
//! - `native_plan`: plans of the client's own plan mode
//! - `native_text`: where each client has such a plan
//! - `server_entries`: the store and the session of the server, as the client's configuration has them
//! - `start`: what comes back at the start and after a compaction
//! - `tools`: what the tools of clients do, and which pass before a plan is approved
//! - `wire`: the JSON of each client

mod after_call;
mod approved;
mod at_stop;
mod changed_files;
mod client_files;
mod counts;
pub(crate) mod deadline;
mod inbox;
mod memory;
mod native_plan;
mod native_text;
mod network;
mod outcome;
mod server_entries;
mod start;
mod tools;
mod wire;

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_core::permission::{Permission, may_decide};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;
use planwright_core::upstream::ServerName;
use planwright_core::visible::{quoted, visible};
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Ledger, LedgerError};
use planwright_engine::workbook::WorkbookFolders;
use planwright_store::Location;
use planwright_surfaces::mcp::folder::folder_session;
use serde_json::Value;

use super::mcp::named_by_person;
use crate::cli::{ClientName, Global, HookArgs, HookEvent};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};

use self::counts::CountedCall;
use self::deadline::{CLIENT_PLAN_SECONDS, DEADLINE, OneAnswer, PLAN_DEADLINE};
use self::server_entries::{ServerEntry, Target};
use self::tools::ToolKind;
use self::wire::{HookDecision, HookInput, HookPlace, PlanAnswer, ToolRequest};

/// The refusal of a command with which an agent tries to decide.
const DECIDES: &str = "An agent does not decide about plans, switch plan work or change who may decide. A person does, in a terminal of their own.";
/// The refusal of a call when the deadline has passed.
const LATE: &str = "Planwright could not tell in time whether the plan is approved, so this call is denied. Try again; `planwright doctor` says what is slow.";

pub(crate) async fn run(global: &Global, arguments: &HookArgs) -> ExitResult {
    let (client, event) = (arguments.client, arguments.event);
    let wait = Duration::from_secs(arguments.wait_seconds.min(CLIENT_PLAN_SECONDS));
    let late_plan = |event: &str| PlanAnswer::Undecided(LATE.to_owned()).answer(client, event, &Value::Null);
    let (late, deadline) = match event {
        HookEvent::PreToolUse => (HookDecision::Deny(LATE.to_owned()).answer(client), DEADLINE),
        HookEvent::SessionStart | HookEvent::PostToolUse | HookEvent::Stop => (None, DEADLINE),
        HookEvent::NativePlan => (late_plan(""), wait.saturating_add(PLAN_DEADLINE)),
    };
    let answer = OneAnswer::or_late(late, deadline)?;
    let mut text = String::new();
    let read = std::io::stdin().take(16 * 1024 * 1024).read_to_string(&mut text);
    let input = read.map_err(|error| error.to_string()).and_then(|_| HookInput::read(client, &text));
    let mut counted = Vec::new();
    let found = match (event, input) {
        (HookEvent::PreToolUse, Ok(input)) => before_call(global, client, &input, &mut counted).await.answer(client),
        (HookEvent::PreToolUse, Err(reason)) => {
            HookDecision::Deny(format!("Planwright cannot read this call: {reason}.")).answer(client)
        }
        (HookEvent::SessionStart, Ok(input)) => start::brought_back(global, client, &input).await?,
        // A note or a reminder that is missing holds nothing up.
        (HookEvent::PostToolUse, Ok(input)) => silent(after_call::note(global, client, &input).await),
        (HookEvent::Stop, Ok(input)) => silent(at_stop::remind(global, client, &input).await),
        (HookEvent::SessionStart | HookEvent::PostToolUse | HookEvent::Stop, Err(reason)) => {
            return Err(Failure::usage(reason));
        }
        (HookEvent::NativePlan, Ok(input)) => {
            answer.set_late(late_plan(input.event()));
            let decided = native_plan::answer(global, client, &input, wait).await;
            decided.answer(client, input.event(), &input.request.input)
        }
        (HookEvent::NativePlan, Err(reason)) => PlanAnswer::Undecided(format!(
            "Planwright cannot read this plan: {reason}."
        ))
        .answer(client, "", &Value::Null),
    };
    answer.give(found.as_ref())?;
    // The client has its answer, and a store that is busy does not hold it up.
    counts::record(counted, client).await;
    Ok(Exit::Done)
}

fn silent<T>(found: Result<Option<T>, Failure>) -> Option<T> {
    found.unwrap_or_else(|failure| {
        tracing::debug!(event = "hook_failed", "{}", failure.message());
        None
    })
}

/// What the hook says before a call. `counted` gets what a plan that is carried out decided.
async fn before_call(
    global: &Global,
    client: ClientName,
    input: &HookInput,
    counted: &mut Vec<CountedCall>,
) -> HookDecision {
    let HookInput { place, request, .. } = input;
    if native_text::writes_plan_file(client, input) {
        return HookDecision::Pass;
    }
    let ToolRequest { tool, input } = request;
    let is_shell = tools::is_shell(client, tool);
    if tools::is_reader(client, tool, input) && tools::kind(tool) == ToolKind::Network {
        return silent(network::by_plan(global, client, place, request, counted).await.map(Some))
            .unwrap_or(HookDecision::Pass);
    }
    if tools::is_reader(client, tool, input) || tools::is_reading_call(client, request, &place.project, &place.folder) {
        return HookDecision::Pass;
    }
    if may_decide(&tools::shell_text(input)) {
        return HookDecision::Deny(DECIDES.to_owned());
    }
    let servers = servers_of(global, client, place);
    // Planwright's own gate decides about the tools of its server.
    if servers.iter().any(|server| is_tool_of(tool, server)) {
        return HookDecision::Pass;
    }
    let mut strictest = None;
    for server in servers.iter().filter(|server| !server.is_own_again) {
        let found = match &server.target {
            Ok(target) => by_plan(server, target, place, request, is_shell, counted).await,
            Err(reason) => {
                Err(Failure::usage(format!("{} does not tell where the plans are: {reason}", described(server))))
            }
        };
        match found {
            // A file of the project makes it stricter and never laxer.
            Ok(HookDecision::Allow(_)) if server.is_of_project => strictest = strictest.max(Some(HookDecision::Pass)),
            Ok(decision) => strictest = strictest.max(Some(decision)),
            // Without the plan it is not known whether it is approved.
            Err(failure) => {
                let reason = format!("Planwright cannot tell whether the plan is approved: {}", failure.message());
                return HookDecision::Deny(reason);
            }
        }
    }
    strictest.unwrap_or(HookDecision::Pass)
}

/// What the plan of one server says about a call that changes things.
async fn by_plan(
    server: &ServerEntry,
    target: &Target,
    place: &HookPlace,
    request: &ToolRequest,
    is_shell: bool,
    counted: &mut Vec<CountedCall>,
) -> Result<HookDecision, Failure> {
    let (snapshot, ledger) = match session_of(target, &place.project).await? {
        Lookup::Found(snapshot, ledger) => (snapshot, ledger),
        missing => return not_found(server, target, &missing),
    };
    if let Some(reason) = blocked(&snapshot, is_shell) {
        return Ok(HookDecision::Deny(reason));
    }
    let is_on = snapshot.session.as_ref().is_some_and(|session| session.plan_mode.enabled);
    let Some(plan) = snapshot.active().filter(|_| is_on) else { return Ok(HookDecision::Pass) };
    if let Some(path) = changed_files::path_in_git(place, request) {
        return Ok(HookDecision::Deny(format!(
            "{} is in a folder of git's. Git runs and obeys what is there, so no tool changes it; use git itself in a command.",
            quoted(&path)
        )));
    }
    let settings = Settings::read(&target.global)?;
    let engine = engine_of(&settings, ledger);
    if let Err(refusal) = check_approved(&engine, snapshot.session.as_deref(), plan).await? {
        return Ok(HookDecision::Deny(refusal.message));
    }
    let Some(outcome) = approved::decide(plan, &settings, place, request)? else { return Ok(HookDecision::Pass) };
    let reason = format!("Plan {}: {}", plan.number, outcome.reason.describe());
    if outcome.permission == Permission::Ask && inbox::is_asked_here(&engine, &settings).await? {
        // A person is not shown the folder, so a call elsewhere is none that they can permit.
        if !tools::runs_in_project(&request.input, &place.project, &place.folder) {
            return Ok(HookDecision::Deny(format!(
                "{reason} It is not made in the project, so no person is asked about it."
            )));
        }
        return inbox::decide(&engine, &snapshot, plan, place, request, &reason).await;
    }
    counted.push(CountedCall::new(engine, plan, outcome.permission));
    Ok(match outcome.permission {
        Permission::Allow => HookDecision::Allow(reason),
        Permission::Ask => HookDecision::Ask(reason),
        Permission::Deny => HookDecision::Deny(reason),
    })
}

/// Whether the approval permits what a client's agent does now. The inner error is a refusal for the agent.
async fn check_approved(
    engine: &Engine,
    session: Option<&Session>,
    plan: &Plan,
) -> Result<Result<(), Refusal>, Failure> {
    let policy = engine.approvals().policy().await.map_err(Failure::from)?;
    let policy = policy.in_session(session);
    let counts = session.map_or(Ok(()), |session| session.check_approval_counts(plan));
    Ok(counts.and_then(|()| plan.check_approved(&policy.approval, &policy.approvers, engine.now())))
}

/// The words for an entry in a refusal.
fn described(server: &ServerEntry) -> String {
    match &server.file {
        Some(file) => format!("the entry {} in {}", quoted(&server.name), visible(file)),
        None => "the hook's own command".to_owned(),
    }
}

/// Nothing is held back where no agent has begun to plan, unless an entry names such a place: it may stand there to turn the
/// gate off.
fn not_found(server: &ServerEntry, target: &Target, missing: &Lookup) -> Result<HookDecision, Failure> {
    if target.is_remote {
        return Err(Failure::unavailable(format!(
            "the server that the client calls by {} keeps its plans elsewhere; start it as `planwright mcp`, with `--data` or \
             `--session` where they are needed",
            described(server)
        )));
    }
    let is_session_named = target.named_session().is_some();
    let what = match missing {
        Lookup::NoStore if target.names_store => "a store",
        Lookup::NoStore | Lookup::NoSession if is_session_named => "a session",
        Lookup::NoStore | Lookup::NoSession | Lookup::Found(..) => return Ok(HookDecision::Pass),
    };
    if server.file.is_none() {
        return Ok(HookDecision::Pass);
    }
    Err(Failure::unavailable(format!(
        "{} names {what} that does not exist; if it is right, the first call of its plan_get makes it, else a person takes it out",
        described(server)
    )))
}

/// The servers of the client. As for them, a path without a beginning is one below the project; the agent's folder may be any.
fn servers_of(global: &Global, client: ClientName, place: &HookPlace) -> Vec<ServerEntry> {
    let _ = std::env::set_current_dir(&place.project);
    server_entries::servers(global, client, place)
}

/// Whether it is a tool of Planwright's server, or one of a server behind it.
fn is_tool_of(tool: &str, server: &ServerEntry) -> bool {
    let Some(name) = tools::tool_of_server(tool, &server.name) else { return false };
    if tools::is_own_tool(name) {
        return true;
    }
    let (Some(upstream), Ok(target)) = (ServerName::of_tool(name), &server.target) else { return false };
    let is_added = || target.upstream.iter().any(|name| *name == upstream.to_string());
    let is_configured = || {
        Settings::read(&target.global).is_ok_and(|found| found.mcp_servers.iter().any(|server| server.name == upstream))
    };
    is_added() || is_configured()
}

/// Why a call that changes things has to wait, if it has to.
fn blocked(snapshot: &Snapshot, is_shell: bool) -> Option<String> {
    let mode = &snapshot.session.as_ref()?.plan_mode;
    if !mode.enabled {
        return None;
    }
    let reason = match snapshot.active().map(|plan| (plan, plan.status)) {
        Some((plan, PlanStatus::Approved | PlanStatus::Executing)) => {
            plan.execution.as_ref()?.paused_since()?;
            format!("Plan {} is paused. A person resumes it.", plan.number)
        }
        Some((plan, PlanStatus::Ready)) => format!(
            "Plan {} waits for a person's approval. Edits and commands are denied until then; wait with plan_await_decision.",
            plan.number
        ),
        Some((plan, PlanStatus::PartiallyCompleted)) => {
            format!("Plan {} ended with open steps. A person resumes it, or you write the next plan.", plan.number)
        }
        Some((plan, PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded)) => {
            format!("Plan {} is finished. Write the next plan with the plan tools of Planwright first.", plan.number)
        }
        Some((_, PlanStatus::Collecting)) | None => {
            "There is no approved plan. Write one with the plan tools of Planwright first; reading is allowed."
                .to_owned()
        }
    };
    let hint = if is_shell {
        " Commands that certainly only read pass: ls, cat, grep, find, git log and the like, with plain words, in pipes and lists."
    } else {
        ""
    };
    Some(format!("{reason}{hint} A person turns plan work off with `planwright plan off`."))
}

/// The engine on the store of a server, with the files that it writes.
fn engine_of(settings: &Settings, ledger: Arc<dyn Ledger>) -> Engine {
    let files = FileTools::new(settings.data.join("users"), FileLimits::default());
    let folders = WorkbookFolders { files: Arc::new(files), templates: Some(settings.data.join("templates")) };
    Engine::new(ledger, settings.policy.clone()).with_workbook_folders(folders)
}

/// What there is of the session of a server, with its store.
enum Lookup {
    Found(Box<Snapshot>, Arc<dyn Ledger>),
    NoStore,
    /// No agent works there over MCP.
    NoSession,
}

async fn session_of(target: &Target, project: &Path) -> Result<Lookup, Failure> {
    let settings = Settings::read(&target.global)?;
    if let Location::Sqlite(path) = &settings.location
        && matches!(path.try_exists(), Ok(false))
    {
        return Ok(Lookup::NoStore);
    }
    // A project's entry chooses no command that runs here, outside of the agent's sandbox.
    let location = match target.names_store {
        true => settings.location.with_password_command(None),
        false => settings.location,
    };
    let ledger = planwright_store::open(&location).await.map_err(Failure::from)?;
    let session = match target.named_session() {
        Some(name) => named_by_person(&*ledger, name).await?,
        None => folder_session(project),
    };
    let snapshot: Result<Snapshot, LedgerError> = ledger.snapshot(&session, None).await;
    let snapshot = snapshot.map_err(Failure::from)?;
    Ok(match snapshot.session {
        Some(_) => Lookup::Found(Box::new(snapshot), ledger),
        None => Lookup::NoSession,
    })
}

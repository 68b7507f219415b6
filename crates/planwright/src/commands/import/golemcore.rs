//! `planwright import golemcore`: plans, conversations, goals and tasks, memories, and Telegram chats.
//!
//! - `workspace`: the files of a GolemCore workspace
//! - `report`: what was taken and what not

mod report;
mod workspace;

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, GoalStatus, TaskStatus};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::event::{AutoEvent, Event};
use planwright_core::ids::{GoalId, RequestId, TaskId};
use planwright_core::legacy::golemcore::{GolemGoal, GolemMemory, GolemSession, GolemTask};
use planwright_core::memory::{MemoryCommand, MemorySource, NewMemory};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_engine::importer::{ImportRequest, ImportRun, Once};
use planwright_telegram::transport_of;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use self::report::{Part, WorkspaceReport};
use self::workspace::{Found, GolemWorkspace};
use super::{ImportStore, nothing};
use crate::cli::{Global, ImportArgs};
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};

/// The session that takes what belongs to no conversation there.
const OWN_SESSION: &str = "cli:golemcore";

pub(super) async fn run(global: &Global, arguments: &ImportArgs) -> ExitResult {
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", folder.display())));
    }
    let workspace = GolemWorkspace::read(&folder)?;
    if workspace.is_empty() {
        return Err(nothing(
            &folder,
            "auto/plans.json, sessions/, auto/goals.json, memory/items/ or preferences/session-pointers.json",
        ));
    }
    let own = match arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) if name.contains(':') => name.parse()?,
        Some(name) => SessionIdentity::new(Channel::Cli, ConversationKey::existing(name)?),
        None => OWN_SESSION.parse()?,
    };
    let run = arguments.run();
    let store = ImportStore::open(global, run).await?;
    let mut import = WorkspaceImport { context: &store.context, own, run, report: WorkspaceReport::new(run) };
    import.take(workspace).await?;
    let report = import.report;
    let exit = store.context.screen.answer(|| report.view(), || report.describe())?;
    Ok(if report.is_empty() { Exit::Unexpected } else { exit })
}

fn default_folder() -> Result<PathBuf, Failure> {
    let home = dirs::home_dir().ok_or_else(|| Failure::usage("there is no home folder; name the workspace"))?;
    Ok(home.join(".golemcore/workspace"))
}

struct WorkspaceImport<'a> {
    context: &'a Context,
    /// The session that takes goals, tasks and memories that are for all conversations.
    own: SessionIdentity,
    run: ImportRun,
    report: WorkspaceReport,
}

impl WorkspaceImport<'_> {
    async fn take(&mut self, workspace: GolemWorkspace) -> Result<(), Failure> {
        let GolemWorkspace { plans, sessions, goals, memories, chats, bot, others } = workspace;
        for found in sessions {
            self.take_session(found).await?;
        }
        if let Some(plans) = plans {
            self.take_plans(plans).await?;
        }
        for found in goals {
            self.take_goal(found).await?;
        }
        for found in memories {
            self.take_memory(found).await?;
        }
        for (chat, key) in chats {
            self.take_chat(&chat, &key, bot.as_deref()).await?;
        }
        for name in others {
            self.report.skip(Part::Other, name, "Planwright has no place for it");
        }
        Ok(())
    }

    async fn take_plans(&mut self, plans: Found<String>) -> Result<(), Failure> {
        let Some(json) = self.report.read(Part::Plans, plans) else { return Ok(()) };
        let report = match self.context.engine.importer().import_in(&json, &self.context.person, self.run).await {
            Ok(report) => report,
            Err(planwright_engine::ledger::LedgerError::Refused(refusal)) => {
                self.report.skip(Part::Plans, "auto/plans.json".to_owned(), refusal.message);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for item in report.taken {
            self.report.take(Part::Plans, format!("{} in {}", item.title, item.session), item.notes);
        }
        for item in report.already_here {
            self.report.leave(Part::Plans, format!("{} in {}", item.title, item.session));
        }
        for item in report.skipped {
            self.report.skip(Part::Plans, format!("plan {} of auto/plans.json", item.index), item.reason);
        }
        Ok(())
    }

    /// A conversation that has begun here is not mixed with one of the same name.
    async fn take_session(&mut self, found: Found<GolemSession>) -> Result<(), Failure> {
        let name = found.name.clone();
        let Some(GolemSession { session, turns, notes }) = self.report.read(Part::Conversations, found) else {
            return Ok(());
        };
        let Some(first) = turns.first() else {
            self.report.skip(Part::Conversations, name, "nothing was said in it");
            return Ok(());
        };
        let stored = self.context.ledger.session(&session).await?;
        let is_known =
            self.context.ledger.find_request(&session, &request("turn", &session, &first.id)?).await?.is_some();
        if !is_known && stored.is_some_and(|stored| stored.session.topic.is_some()) {
            self.report.skip(Part::Conversations, name, format!("there is another conversation {session} here"));
            return Ok(());
        }
        let (mut new, mut refused) = (0_usize, None);
        for turn in turns {
            let command = Command::Session(SessionCommand::TakeTurn(Box::new(turn.turn)));
            match self.once("turn", &session, &turn.id, Some(turn.at), &self.context.person, command).await? {
                Once::Now(_) => new += 1,
                Once::Before(_) => {}
                Once::Refused(reason) => {
                    refused = Some(reason);
                    break;
                }
            }
        }
        if let Some(reason) = refused {
            self.report.skip(Part::Conversations, format!("the rest of {session}"), reason);
        }
        match new {
            0 => self.report.leave(Part::Conversations, session.to_string()),
            new => {
                self.report.take(Part::Conversations, format!("{session}, {new} messages with their answers"), notes)
            }
        }
        Ok(())
    }

    async fn take_goal(&mut self, found: Found<GolemGoal>) -> Result<(), Failure> {
        let Some(goal) = self.report.read(Part::Goals, found) else { return Ok(()) };
        self.open_own().await?;
        let session = self.own.clone();
        let add = Command::Auto(AutoCommand::AddGoal { title: goal.title.clone() });
        let events = match self.once("goal", &session, &goal.id, None, &self.context.person, add).await? {
            Once::Refused(reason) => {
                self.report.skip(Part::Goals, goal.title, reason);
                return Ok(());
            }
            Once::Before(events) => {
                self.report.leave(Part::Goals, goal.title.clone());
                events
            }
            Once::Now(events) => {
                self.report.take(Part::Goals, goal.title.clone(), Vec::new());
                events
            }
        };
        let known = events.iter().filter_map(Event::auto_event).find_map(|event| match event {
            AutoEvent::GoalAdded { goal, .. } => Some(goal.clone()),
            _ => None,
        });
        for task in goal.tasks {
            self.take_task(&session, known.as_ref(), task).await?;
        }
        // Tasks are added to a goal that is not over.
        if let Some(known) = known.filter(|_| goal.status != GoalStatus::Active) {
            let change = AutoCommand::ChangeGoal { goal: known, status: goal.status, note: None };
            self.once("goal-status", &session, &goal.id, None, &self.context.person, Command::Auto(change)).await?;
        }
        Ok(())
    }

    /// `goal` is absent in a dry run.
    async fn take_task(
        &mut self,
        session: &SessionIdentity,
        goal: Option<&GoalId>,
        task: GolemTask,
    ) -> Result<(), Failure> {
        let add = AutoCommand::AddTask { title: task.title.clone(), goal: goal.cloned() };
        let added = self.once("task", session, &task.id, None, &self.context.person, Command::Auto(add)).await?;
        let events = match added {
            Once::Refused(reason) => {
                self.report.skip(Part::Tasks, task.title, reason);
                return Ok(());
            }
            Once::Before(events) => {
                self.report.leave(Part::Tasks, task.title);
                events
            }
            Once::Now(events) => {
                self.report.take(Part::Tasks, task.title, Vec::new());
                events
            }
        };
        let known: Option<TaskId> = events.iter().filter_map(Event::auto_event).find_map(|event| match event {
            AutoEvent::TaskAdded { task, .. } => Some(task.clone()),
            _ => None,
        });
        if let Some(known) = known.filter(|_| task.status != TaskStatus::Open) {
            let change = AutoCommand::ChangeTask { task: known, status: task.status, note: task.result };
            self.once("task-status", session, &task.id, None, &self.context.person, Command::Auto(change)).await?;
        }
        Ok(())
    }

    /// A memory was written by a model there, so it counts as an agent's here. One that every conversation read is in the session of
    /// its own: only a person's promotion makes it read by all.
    async fn take_memory(&mut self, found: Found<GolemMemory>) -> Result<(), Failure> {
        let Some(memory) = self.report.read(Part::Memories, found) else { return Ok(()) };
        let known = match &memory.session {
            Some(session) => self.context.ledger.session(session).await?.map(|stored| stored.session.identity),
            None => None,
        };
        let session = match known {
            Some(session) => session,
            None => {
                self.open_own().await?;
                self.own.clone()
            }
        };
        let expires_at = expiry(&memory);
        if expires_at.is_some_and(|at| at <= Timestamp::now()) {
            self.report.skip(Part::Memories, memory.content, "its time is over");
            return Ok(());
        }
        let new = NewMemory {
            content: memory.content.clone(),
            kind: memory.kind,
            tags: memory.tags,
            scope: None,
            source: MemorySource::Tool,
            expires_at,
            origin: None,
            run: None,
        };
        let by = Actor::agent("golemcore", "import");
        let command = Command::Memory(MemoryCommand::Save(Box::new(new)));
        match self.once("memory", &session, &memory.id, None, &by, command).await? {
            Once::Now(_) => self.report.take(Part::Memories, format!("{} in {session}", memory.content), Vec::new()),
            Once::Before(_) => self.report.leave(Part::Memories, memory.content),
            Once::Refused(reason) => self.report.skip(Part::Memories, memory.content, reason),
        }
        Ok(())
    }

    /// `bot` is the token in the settings of GolemCore, for a Planwright that has none yet.
    async fn take_chat(&mut self, chat: &str, key: &str, bot: Option<&str>) -> Result<(), Failure> {
        let name = format!("chat {chat}");
        let configured =
            self.context.served.telegram.as_ref().map(|telegram| telegram.token.expose_secret().to_owned());
        let (Some(token), Ok(number)) = (configured.or(bot.map(str::to_owned)), chat.parse::<i64>()) else {
            self.report.skip(Part::Chats, name, "the bot is not known; set `telegram.token` and import again");
            return Ok(());
        };
        let session = match ConversationKey::existing(key) {
            Ok(key) => SessionIdentity::new(Channel::Telegram, key),
            Err(refusal) => {
                self.report.skip(Part::Chats, name, refusal.message);
                return Ok(());
            }
        };
        let is_taken = self.report.has_conversation(&session);
        if !is_taken && self.context.ledger.session(&session).await?.is_none() {
            self.report.skip(Part::Chats, name, format!("its conversation {session} was not taken"));
            return Ok(());
        }
        let transport = transport_of(&token, number);
        match self.context.ledger.active_session(&transport).await? {
            Some(there) if there == session => self.report.leave(Part::Chats, format!("{name} in {session}")),
            Some(there) => self.report.skip(Part::Chats, name, format!("it is in {there} here")),
            None => {
                if self.run == ImportRun::Real {
                    self.context.ledger.point(&transport, &session).await?;
                }
                self.report.take(Part::Chats, format!("{name} in {session}"), Vec::new());
            }
        }
        Ok(())
    }

    async fn open_own(&self) -> Result<(), Failure> {
        if self.run == ImportRun::Real {
            self.context.engine.sessions().open(&self.own, &self.context.person).await?;
        }
        Ok(())
    }

    async fn once(
        &self,
        what: &str,
        session: &SessionIdentity,
        id: &str,
        at: Option<Timestamp>,
        by: &Actor,
        command: Command,
    ) -> Result<Once, Failure> {
        let request = ImportRequest { session, by, id: request(what, session, id)?, at };
        Ok(self.context.engine.importer().carry_out_once(request, command, self.run).await?)
    }
}

/// The name of what is taken, which is the same in every import.
fn request(what: &str, session: &SessionIdentity, id: &str) -> Result<RequestId, Failure> {
    let hash = hex::encode(Sha256::digest(format!("{session}\n{id}")));
    Ok(RequestId::new(format!("golemcore-{what}-{}", &hash[..32]))?)
}

fn expiry(memory: &GolemMemory) -> Option<Timestamp> {
    let (created, days) = (memory.created_at?, memory.days?);
    created.checked_add(SignedDuration::from_hours(days.checked_mul(24)?)).ok()
}

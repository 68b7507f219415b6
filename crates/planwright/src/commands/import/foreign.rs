//! `planwright import claude-plans|planning-files|task-master`

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use planwright_core::ids::RequestId;
use planwright_core::legacy::{ForeignFile, ForeignPlan, ForeignPlans};
use planwright_core::plan::PlanStatus;
use planwright_core::policy::Limits;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{DocumentKind, Documents};
use planwright_engine::importer::{ImportRun, TakenPlan};
use planwright_engine::ledger::LedgerError;
use planwright_engine::workbook::NewWorkbook;
use planwright_surfaces::mcp::folder::{folder_session, named_session};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{ImportStore, nothing};
use crate::cli::{Global, ImportArgs};
use crate::commands::workbook;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{BOLD, DIM, GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

const TASK_PLAN: &str = "task_plan.md";
/// Where planning-with-files keeps several plans, each in a folder, and the file that names the active one.
const PLANNING: &str = ".planning";
const ACTIVE_PLAN: &str = ".active_plan";
/// Where Task Master keeps its tasks, and where earlier versions did.
const TASK_FILES: [&str; 2] = [".taskmaster/tasks/tasks.json", "tasks/tasks.json"];

pub(super) async fn run(global: &Global, arguments: &ImportArgs, whose: ForeignPlans) -> ExitResult {
    let folder = folder(arguments, whose)?;
    let found = find(&folder, whose)?;
    if found.is_empty() {
        return Err(nothing(&folder, expected(whose)));
    }
    let session = session(arguments, &folder, whose)?;
    let run = arguments.run();
    let store = ImportStore::open(global, run).await?;
    let mut report = ForeignReport { session, run, taken: Vec::new(), here: Vec::new(), skipped: Vec::new() };
    for plan in found {
        report.take(&store.context, plan).await?;
    }
    if whose == ForeignPlans::PlanningFiles {
        report.adopt_notes(&store.context, &folder).await?;
    }
    let exit = store.context.screen.answer(|| report.view(whose), || report.describe(&store.context))?;
    Ok(if report.is_empty() { Exit::Unexpected } else { exit })
}

fn expected(whose: ForeignPlans) -> &'static str {
    match whose {
        ForeignPlans::ClaudePlans => "file that ends in .md",
        ForeignPlans::PlanningFiles => "task_plan.md, and none in .planning/",
        ForeignPlans::TaskMaster => ".taskmaster/tasks/tasks.json",
    }
}

fn folder(arguments: &ImportArgs, whose: ForeignPlans) -> Result<PathBuf, Failure> {
    let folder = match (&arguments.folder, whose) {
        (Some(folder), _) => folder.clone(),
        (None, ForeignPlans::ClaudePlans) => dirs::home_dir()
            .map(|home| home.join(".claude/plans"))
            .ok_or_else(|| Failure::usage("there is no home folder; name the folder with the plans"))?,
        (None, ForeignPlans::PlanningFiles | ForeignPlans::TaskMaster) => PathBuf::from("."),
    };
    if folder.is_dir() { Ok(folder) } else { Err(Failure::usage(format!("{} is not a folder", folder.display()))) }
}

/// The named session, or that of the project: the files of Claude Code lie in no project, so it is the one of the current folder.
fn session(arguments: &ImportArgs, folder: &Path, whose: ForeignPlans) -> Result<SessionIdentity, Failure> {
    match arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) if name.contains(':') => Ok(name.parse()?),
        Some(name) => {
            planwright_core::session::ConversationKey::existing(name)?;
            Ok(named_session(name))
        }
        None if whose == ForeignPlans::ClaudePlans => Ok(folder_session(Path::new("."))),
        None => Ok(folder_session(folder)),
    }
}

/// The plans in the files that there are, in the order of their names.
fn find(folder: &Path, whose: ForeignPlans) -> Result<Vec<ForeignPlan>, Failure> {
    let paths = match whose {
        ForeignPlans::ClaudePlans => listed(folder)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .collect(),
        ForeignPlans::PlanningFiles => {
            let several = listed(&folder.join(PLANNING)).unwrap_or_default();
            let all = std::iter::once(folder.to_owned()).chain(several).map(|folder| folder.join(TASK_PLAN));
            all.filter(|path| path.symlink_metadata().is_ok()).collect()
        }
        ForeignPlans::TaskMaster => {
            let paths = TASK_FILES.map(|name| folder.join(name));
            paths.into_iter().find(|path| path.symlink_metadata().is_ok()).into_iter().collect::<Vec<_>>()
        }
    };
    Ok(paths.iter().flat_map(|path| plans_in(folder, path, whose)).collect())
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("{} cannot be read: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn plans_in(folder: &Path, path: &Path, whose: ForeignPlans) -> Vec<ForeignPlan> {
    let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
    match read(path) {
        Ok((text, changed_at)) => whose.read(&ForeignFile { name, text, changed_at }),
        Err(reason) => vec![ForeignPlan { name, plan: Err(reason), notes: Vec::new() }],
    }
}

/// The text of a file and when it was changed. A link is not followed: what it points to is not a file of this folder.
fn read(path: &Path) -> Result<(String, Timestamp), String> {
    let most = Limits::default().plan_bytes as u64;
    let found = path.symlink_metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(most + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    let changed_at = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok((text, changed_at.unwrap_or(Timestamp::UNIX_EPOCH)))
}

/// A plan that was taken, or would be.
struct TakenHere {
    name: String,
    /// `None` in a dry run.
    number: Option<u32>,
    id: Option<String>,
    title: String,
    status: Option<PlanStatus>,
    session: SessionIdentity,
    notes: Vec<String>,
}

struct ForeignReport {
    session: SessionIdentity,
    run: ImportRun,
    taken: Vec<TakenHere>,
    here: Vec<TakenHere>,
    skipped: Vec<(String, String)>,
}

impl ForeignReport {
    fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.here.is_empty()
    }

    async fn take(&mut self, context: &Context, found: ForeignPlan) -> Result<(), Failure> {
        let ForeignPlan { name, plan, notes } = found;
        let plan = match plan {
            Ok(plan) => plan,
            Err(reason) => {
                self.skipped.push((name, reason));
                return Ok(());
            }
        };
        let (id, status) = (plan.id.clone(), plan.status);
        let title = plan.title.clone().unwrap_or_else(|| "Untitled plan".to_owned());
        let new = TakenHere {
            name: name.clone(),
            number: None,
            id: Some(id.to_string()),
            title,
            status: Some(status),
            session: self.session.clone(),
            notes,
        };
        match context.engine.importer().take(&self.session, &context.person, plan, self.run).await? {
            TakenPlan::Refused(reason) => self.skipped.push((name, reason)),
            TakenPlan::AlreadyHere(session) => {
                let stored = context.engine.plans().get(&session, &id).await?;
                self.here.push(TakenHere {
                    number: Some(stored.number),
                    title: stored.display_title(),
                    status: Some(stored.status),
                    session,
                    notes: Vec::new(),
                    ..new
                });
            }
            TakenPlan::Taken => {
                let number = match self.run {
                    ImportRun::Dry => None,
                    ImportRun::Real => Some(context.engine.plans().get(&self.session, &id).await?.number),
                };
                self.taken.push(TakenHere { number, ..new });
            }
        }
        Ok(())
    }

    /// The findings and the progress beside the plan become the session's workbook, unless it has one.
    async fn adopt_notes(&mut self, context: &Context, folder: &Path) -> Result<(), Failure> {
        let folder = notes_folder(folder);
        let mut found = Documents::<Option<String>>::default();
        let most = context.engine.policy().limits.document_bytes;
        for which in DocumentKind::ALL {
            *found.get_mut(which) = workbook::read(&folder.join(which.file_name()), most)?;
        }
        let notes: Vec<_> = DocumentKind::ALL
            .into_iter()
            .filter(|which| found.get(*which).is_some() && which.file_name() != TASK_PLAN)
            .map(DocumentKind::file_name)
            .collect();
        if notes.is_empty() {
            return Ok(());
        }
        let name = notes.join(", ");
        let title = workbook::title(&found, &folder);
        let mut begun = TakenHere {
            name: name.clone(),
            number: None,
            id: None,
            title: title.clone(),
            status: None,
            session: self.session.clone(),
            notes: vec!["the workbook of the session, with the task plan".to_owned()],
        };
        let request = request(&found)?;
        if context.ledger.find_request(&self.session, &request).await?.is_some() {
            self.here.push(begun);
            return Ok(());
        }
        if self.run == ImportRun::Dry {
            begun.notes.push("unless the session has a workbook in work".to_owned());
            self.taken.push(begun);
            return Ok(());
        }
        context.engine.sessions().open(&self.session, &context.person).await?;
        let new = NewWorkbook::about(&title);
        let workbooks = context.engine.as_request(request).workbooks();
        match workbooks.adopt(&self.session, &context.person, &new, &found).await {
            Ok(outcome) if outcome.is_new => self.taken.push(begun),
            Ok(_) => self.here.push(begun),
            Err(LedgerError::Refused(refusal)) => self.skipped.push((name, refusal.message)),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn view(&self, whose: ForeignPlans) -> Value {
        let plans = |plans: &[TakenHere]| plans.iter().map(TakenHere::view).collect::<Vec<_>>();
        let skipped: Vec<_> =
            self.skipped.iter().map(|(name, reason)| json!({ "name": name, "reason": reason })).collect();
        json!({
            "program": whose,
            "dryRun": self.run == ImportRun::Dry,
            "sessionId": self.session.conversation,
            "channel": self.session.channel,
            "taken": plans(&self.taken),
            "alreadyHere": plans(&self.here),
            "skipped": skipped,
        })
    }

    fn describe(&self, context: &Context) -> String {
        let session = shown_line(&self.session.to_string());
        let mut text = match self.run {
            ImportRun::Real => format!("{} taken over into {session}\n", count(self.taken.len(), "item")),
            ImportRun::Dry => {
                format!("{} would be taken over into {session}; nothing was written\n", count(self.taken.len(), "item"))
            }
        };
        text.extend(self.taken.iter().map(TakenHere::describe));
        if !self.here.is_empty() {
            text.push_str(&format!("{} here already and left\n", count(self.here.len(), "item")));
            text.extend(self.here.iter().map(TakenHere::describe));
        }
        if !self.skipped.is_empty() {
            text.push_str(&format!(
                "{}\n",
                paint(&format!("{} not taken", count(self.skipped.len(), "item")), WARNING)
            ));
        }
        for (name, reason) in &self.skipped {
            text.push_str(&format!("  {}: {}\n", shown_line(name), paint(&shown_line(reason), DIM)));
        }
        let waiting = self.taken.iter().find(|plan| plan.status == Some(PlanStatus::Ready));
        if let Some(number) = waiting.and_then(|plan| plan.number) {
            let mut invocation = context.invocation.clone();
            invocation.name_session(&self.session);
            let show = invocation.plan(["show".to_owned(), number.to_string()]);
            text.push_str(&format!("No plan is approved by this. Read one: {show}\n"));
        }
        text
    }
}

/// The name under which these notes are adopted, so that the same ones are adopted once, also when their workbook is complete.
fn request(notes: &Documents<Option<String>>) -> Result<RequestId, Failure> {
    let mut hash = Sha256::new();
    for which in DocumentKind::ALL {
        hash.update(notes.get(which).as_deref().unwrap_or_default());
        hash.update([0]);
    }
    Ok(RequestId::new(format!("planning-files-{}", &hex::encode(hash.finalize())[..32]))?)
}

/// The folder with the notes: the project, or that of the plan that is active where there are several.
fn notes_folder(folder: &Path) -> PathBuf {
    let planning = folder.join(PLANNING);
    let active = fs::read_to_string(planning.join(ACTIVE_PLAN)).unwrap_or_default();
    let active = Path::new(active.trim());
    // It is the name of a folder, and no way out of this one.
    let is_name = active.components().count() == 1 && active.file_name().is_some();
    let has_notes = |folder: &Path| {
        [DocumentKind::Findings, DocumentKind::Progress].iter().any(|kind| folder.join(kind.file_name()).is_file())
    };
    if !has_notes(folder) && is_name { planning.join(active) } else { folder.to_owned() }
}

impl TakenHere {
    fn view(&self) -> Value {
        json!({
            "name": self.name,
            "id": self.id,
            "number": self.number,
            "sessionId": self.session.conversation,
            "channel": self.session.channel,
            "title": self.title,
            "status": self.status,
            "notes": self.notes,
        })
    }

    fn describe(&self) -> String {
        let number = self.number.map_or_else(String::new, |number| format!("plan {number}  "));
        let status = self.status.map_or_else(String::new, |status| format!("{status}  "));
        let mut text = format!(
            "  {}{status}{}  {}\n",
            paint(&number, BOLD),
            paint(&shown_line(&self.title), GOOD),
            paint(&shown_line(&self.name), DIM)
        );
        for note in &self.notes {
            text.push_str(&format!("    {}\n", paint(&shown_line(note), DIM)));
        }
        text
    }
}

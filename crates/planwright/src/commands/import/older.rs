//! `planwright import FILE`

use std::path::Path;
use std::sync::Arc;

use planwright_core::plan::Plan;
use planwright_core::refusal::RefusalCode;
use planwright_engine::importer::{ImportReport, ImportRun, ImportedItem, SkippedItem};
use planwright_engine::ledger::LedgerError;
use serde_json::{Value, json};

use super::ImportStore;
use crate::cli::{Global, ImportArgs};
use crate::context::{Context, read_file, read_stdin};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{BOLD, DIM, GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

pub(super) async fn run(global: &Global, arguments: &ImportArgs) -> ExitResult {
    // The file is read first: one that cannot be read leaves no store behind.
    let json = if arguments.source == Path::new("-") { read_stdin()? } else { read_file(&arguments.source)? };
    let run = arguments.run();
    let store = ImportStore::open(global, run).await?;
    let context = &store.context;
    let report = context.engine.importer().import_in(&json, &context.person, run).await.map_err(|error| {
        Failure::from(error)
            .hint_on(RefusalCode::InvalidArgument, || "an older `plans.json` is one JSON array of plans".to_owned())
    })?;
    let mut taken = Vec::with_capacity(report.taken.len());
    for item in &report.taken {
        taken.push(stored(context, item, &item.notes, run).await?);
    }
    let mut here = Vec::with_capacity(report.already_here.len());
    for item in &report.already_here {
        here.push(stored(context, item, &[], ImportRun::Real).await?);
    }
    let exit = context.screen.answer(|| view(&taken, &here, &report), || describe(&taken, &here, &report, run))?;
    // A file of which nothing is usable is a wrong file.
    let is_useless = taken.is_empty() && here.is_empty() && !report.skipped.is_empty();
    Ok(if is_useless { Exit::Usage } else { exit })
}

enum StoredPlan {
    Read(Arc<Plan>),
    /// What is stored cannot be read.
    Damaged,
    /// A dry run stores nothing.
    NotYet,
}

impl StoredPlan {
    fn read(&self) -> Option<&Plan> {
        match self {
            Self::Read(plan) => Some(plan),
            Self::Damaged | Self::NotYet => None,
        }
    }
}

/// A plan as it is stored, which is how people will find it.
struct Stored<'a> {
    item: &'a ImportedItem,
    plan: StoredPlan,
    /// What had to be changed to take it over now.
    notes: &'a [String],
}

async fn stored<'a>(
    context: &Context,
    item: &'a ImportedItem,
    notes: &'a [String],
    run: ImportRun,
) -> Result<Stored<'a>, Failure> {
    let plan = match run {
        ImportRun::Dry => return Ok(Stored { item, plan: StoredPlan::NotYet, notes }),
        ImportRun::Real => match context.engine.plans().get(&item.session, &item.id).await {
            Err(LedgerError::Damaged { .. }) => StoredPlan::Damaged,
            read => StoredPlan::Read(read?),
        },
    };
    Ok(Stored { item, plan, notes })
}

impl Stored<'_> {
    fn view(&self) -> Value {
        json!({
            "id": self.item.id,
            "number": self.plan.read().map(|plan| plan.number),
            "sessionId": self.item.session.conversation,
            "channel": self.item.session.channel,
            "status": self.plan.read().map(|plan| plan.status),
            "title": self.plan.read().map(Plan::display_title),
            "notes": self.notes,
        })
    }

    fn describe(&self) -> String {
        let (name, title) = match &self.plan {
            StoredPlan::Read(plan) => (format!("plan {} of {}", plan.number, self.item.session), plan.display_title()),
            StoredPlan::Damaged => (format!("{} of {}", self.item.id, self.item.session), "damaged".to_owned()),
            StoredPlan::NotYet => (format!("a plan of {}", self.item.session), self.item.title.clone()),
        };
        let mut text = format!("  {}  {}\n", paint(&name, BOLD), paint(&shown_line(&title), GOOD));
        for note in self.notes {
            text.push_str(&format!("    {}\n", paint(&shown_line(note), DIM)));
        }
        text
    }
}

fn view(taken: &[Stored<'_>], here: &[Stored<'_>], report: &ImportReport) -> Value {
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|SkippedItem { index, id, reason }| json!({ "index": index, "id": id, "reason": reason }))
        .collect();
    json!({
        "taken": taken.iter().map(Stored::view).collect::<Vec<_>>(),
        "alreadyHere": here.iter().map(Stored::view).collect::<Vec<_>>(),
        "skipped": skipped,
    })
}

fn describe(taken: &[Stored<'_>], here: &[Stored<'_>], report: &ImportReport, run: ImportRun) -> String {
    let mut text = match run {
        ImportRun::Real => format!("{} taken over\n", count(taken.len(), "plan")),
        ImportRun::Dry => format!("{} would be taken over\n", count(taken.len(), "plan")),
    };
    text.extend(taken.iter().map(Stored::describe));
    if !here.is_empty() {
        let left = if here.len() == 1 { "left as it is" } else { "left as they are" };
        text.push_str(&format!("{} here already, {left}\n", count(here.len(), "plan")));
        text.extend(here.iter().map(Stored::describe));
    }
    if !report.skipped.is_empty() {
        text.push_str(&format!("{}\n", paint(&format!("{} skipped", count(report.skipped.len(), "plan")), WARNING)));
    }
    for SkippedItem { index, id, reason } in &report.skipped {
        let id = id.as_deref().map_or_else(String::new, |id| format!(" ({})", shown_line(id)));
        text.push_str(&format!(
            "  number {index} in the file{}: {}\n",
            paint(&id, DIM),
            paint(&shown_line(reason), DIM)
        ));
    }
    text
}

//! `planwright import`

use std::path::Path;

use planwright_core::refusal::RefusalCode;
use planwright_engine::engine::{ImportReport, ImportedItem, SkippedItem};
use serde_json::{Value, json};

use crate::cli::{Global, ImportArgs};
use crate::context::{Context, Store, read_file, read_stdin};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::palette::{BOLD, DIM, GOOD, WARNING};
use crate::terminal::text::{paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: &ImportArgs) -> Outcome {
    // The file is read first: one that cannot be read leaves no store behind.
    let json = if arguments.file == Path::new("-") { read_stdin()? } else { read_file(&arguments.file)? };
    let context = Context::open(global, Store::MayBeMade).await?;
    let report = context.engine.import(&json, &context.person).await.map_err(|error| {
        Failure::from(error)
            .hint_on(RefusalCode::InvalidArgument, || "an older `plans.json` is one JSON array of plans".to_owned())
    })?;
    let taken = numbered(&context, &report.taken).await?;
    let here = numbered(&context, &report.already_here).await?;
    context.screen.answer(|| view(&taken, &here, &report), || words(&taken, &here, &report))?;
    Ok(Exit::Done)
}

/// A plan with the number people will call it by.
struct Numbered<'a> {
    item: &'a ImportedItem,
    number: u32,
}

async fn numbered<'a>(context: &Context, items: &'a [ImportedItem]) -> Result<Vec<Numbered<'a>>, Failure> {
    let mut numbered = Vec::with_capacity(items.len());
    for item in items {
        let plan = context.engine.plan(&item.session, &item.id).await?;
        numbered.push(Numbered { item, number: plan.number });
    }
    Ok(numbered)
}

impl Numbered<'_> {
    fn view(&self) -> Value {
        json!({
            "id": self.item.id,
            "number": self.number,
            "sessionId": self.item.session.conversation,
            "channel": self.item.session.channel,
            "title": self.item.title,
            "notes": self.item.notes,
        })
    }

    fn words(&self) -> String {
        let name = paint(&format!("plan {} of {}", self.number, self.item.session), BOLD);
        let mut text = format!("  {name}  {}\n", paint(&shown_line(&self.item.title), GOOD));
        for note in &self.item.notes {
            text.push_str(&format!("    {}\n", paint(&shown_line(note), DIM)));
        }
        text
    }
}

fn view(taken: &[Numbered<'_>], here: &[Numbered<'_>], report: &ImportReport) -> Value {
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|SkippedItem { index, id, reason }| json!({ "index": index, "id": id, "reason": reason }))
        .collect();
    json!({
        "taken": taken.iter().map(Numbered::view).collect::<Vec<_>>(),
        "alreadyHere": here.iter().map(Numbered::view).collect::<Vec<_>>(),
        "skipped": skipped,
    })
}

fn words(taken: &[Numbered<'_>], here: &[Numbered<'_>], report: &ImportReport) -> String {
    let mut text = format!("{} taken over\n", plans(taken.len()));
    text.extend(taken.iter().map(Numbered::words));
    if !here.is_empty() {
        text.push_str(&format!("{} here already, left as they are\n", plans(here.len())));
        text.extend(here.iter().map(Numbered::words));
    }
    if !report.skipped.is_empty() {
        text.push_str(&format!("{}\n", paint(&format!("{} skipped", plans(report.skipped.len())), WARNING)));
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

fn plans(count: usize) -> String {
    if count == 1 { "1 plan".to_owned() } else { format!("{count} plans") }
}

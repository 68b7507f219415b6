//! Plans as resources: the active one, each plan, its history, and what its last version changed.

use planwright_core::choices::choices;
use planwright_core::plan::Plan;
use planwright_core::plan::diff::DiffLine;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::plan_status::plan_status;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

const BASE: &str = "planwright://plan/";
pub(super) const ACTIVE: &str = "planwright://plan/active";
const MARKDOWN: &str = "text/markdown";
/// How many plans are listed.
const LISTED: u32 = 50;

/// What is read of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanPart {
    Text,
    History,
    Changes,
}

pub(super) async fn list(engine: &Engine, session: &SessionIdentity) -> LedgerResult<Vec<Resource>> {
    let active = Resource::new(ACTIVE, "active plan")
        .with_title("The active plan")
        .with_description("The plan that the session works by, with its status and progress")
        .with_mime_type(MARKDOWN);
    let plans = engine.plans().list(session, None, LISTED).await?;
    let listed = plans.items.into_iter().map(|plan| {
        let name = format!("plan {}", plan.number);
        Resource::new(format!("{BASE}{}", plan.number), name)
            .with_title(format!("Plan {}: {}", plan.number, visible(&plan.title)))
            .with_description(format!("Status {}", plan.status.as_str()))
            .with_mime_type(MARKDOWN)
    });
    Ok(std::iter::once(active).chain(listed).collect())
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    [
        ("planwright://plan/{number}", "plan", "A plan with its status and progress"),
        ("planwright://plan/{number}/history", "history", "Every version of a plan and every decision about it"),
        ("planwright://plan/{number}/changes", "changes", "What the last version of a plan changed"),
    ]
    .into_iter()
    .map(|(uri, name, description)| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(MARKDOWN)
    })
    .collect()
}

/// `None` if the address is none of ours.
pub(super) async fn read(
    engine: &Engine,
    session: &SessionIdentity,
    uri: &str,
) -> LedgerResult<Option<ResourceContents>> {
    let Some((reference, part)) = parse(uri)? else { return Ok(None) };
    let plan = engine.plans().find(session, reference.as_ref()).await?;
    let text = match part {
        PlanPart::Text => plan_text(&plan),
        PlanPart::History => history(engine, &plan).await?,
        PlanPart::Changes => changes(engine, &plan).await?,
    };
    Ok(Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN)))
}

/// Whether a client can subscribe to the address.
pub(super) fn exists(uri: &str) -> bool {
    parse(uri).is_ok_and(|found| found.is_some())
}

fn parse(uri: &str) -> Result<Option<(Option<PlanReference>, PlanPart)>, Refusal> {
    let Some(rest) = uri.strip_prefix(BASE) else { return Ok(None) };
    let (plan, part) = match rest.split_once('/') {
        None => (rest, PlanPart::Text),
        Some((plan, "history")) => (plan, PlanPart::History),
        Some((plan, "changes")) => (plan, PlanPart::Changes),
        Some(_) => return Ok(None),
    };
    let reference = if plan == "active" { None } else { Some(plan.parse::<PlanReference>()?) };
    Ok(Some((reference, part)))
}

/// The plan with its status, as a model and a person read it.
pub(super) fn plan_text(plan: &Plan) -> String {
    let (status, now) = (plan_status(plan, plan.updated_at), choices(plan, None).situation);
    format!("{}\n\n{now}\n\ndigest: {}\n\n---\n\n{}", status.trim_end(), plan.digest(), plan.markdown())
}

async fn history(engine: &Engine, plan: &Plan) -> LedgerResult<String> {
    let report = engine.history().of_plan(&plan.session, &plan.id).await?;
    let mut text = format!("# History of plan {}\n\n", plan.number);
    for version in &report.versions {
        text.push_str(&format!(
            "- version {} by {} at {} ({})\n",
            version.version,
            visible(&version.by.to_string()),
            version.at,
            version.digest.short()
        ));
    }
    for item in &report.items {
        text.push_str(&format!(
            "- {}: {} by {} at {}\n",
            item.seq,
            item.event.name(),
            visible(&item.by.to_string()),
            item.at
        ));
    }
    Ok(text)
}

async fn changes(engine: &Engine, plan: &Plan) -> LedgerResult<String> {
    if plan.version == 0 {
        return Ok("The plan has no version yet.\n".to_owned());
    }
    let difference = engine.history().diff_versions(plan, None, None).await?;
    let mut text = String::from("```diff\n");
    for line in &difference.lines {
        let mark = match line {
            DiffLine::Same { .. } => ' ',
            DiffLine::Removed { .. } => '-',
            DiffLine::Added { .. } => '+',
            DiffLine::Gap { .. } => '…',
        };
        text.push_str(&format!("{mark}{}\n", visible(&line.text())));
    }
    text.push_str("```\n");
    for change in &difference.changes {
        text.push_str(&format!("- {}\n", serde_json::to_string(change).unwrap_or_default()));
    }
    Ok(text)
}

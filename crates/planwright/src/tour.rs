//! The guided tour: the life of a plan on a temporary store, with the real commands and the real engine.

mod stage;

use serde_json::json;

use self::stage::{Stage, Stopped};
use crate::cli::{Global, TourArgs, Typed};
use crate::context::{Context, Store};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

const FIRST: &str = include_str!("tour/texts/plan_first.md");
const SECOND: &str = include_str!("tour/texts/plan_second.md");
const THIRD: &str = include_str!("tour/texts/plan_third.md");

pub(crate) async fn run(global: &Global, arguments: &TourArgs) -> ExitResult {
    if global.json {
        return Err(Failure::usage("the tour is for a person to read; it has no JSON output"));
    }
    let folder = tempfile::Builder::new()
        .prefix("planwright-tour-")
        .tempdir()
        .map_err(|error| Failure::unavailable(format!("a temporary folder cannot be made: {error}")))?;
    // The commands of the tour are typed by the program itself.
    std::fs::write(folder.path().join("planwright.toml"), "[approval]\nrequire = \"any\"\n")
        .map_err(|error| Failure::unavailable(format!("the temporary folder cannot be written to: {error}")))?;
    let store = Global {
        data: Some(folder.path().to_owned()),
        database: Some(format!("sqlite:{}", folder.path().join("planwright.db").display())),
        config: None,
        typed: Typed::default(),
        ..global.clone()
    };
    let screen = Screen::new(global.json);
    let engine = Context::open(&store, Store::MayBeMade).await?.engine;
    let mut stage = Stage::new(store, screen, engine, !arguments.no_pause);
    match tell(&mut stage).await {
        Ok(()) | Err(Stopped::ByThePerson) => Ok(Exit::Done),
        Err(Stopped::By(failure)) => Err(failure),
    }
}

async fn tell(stage: &mut Stage) -> Result<(), Stopped> {
    stage.say(include_str!("tour/texts/welcome.md"))?;

    stage.chapter(include_str!("tour/texts/begin.md"))?;
    stage.person("plan on").await?;
    let session = stage.find_session().await?;

    stage.chapter(include_str!("tour/texts/draft.md"))?;
    stage.agent(&session, "plan_set_content", json!({ "plan_markdown": FIRST })).await?;

    stage.chapter(include_str!("tour/texts/show.md"))?;
    let read = stage.digest_of_active(&session).await?;
    stage.person("plan show 1").await?;

    stage.chapter(include_str!("tour/texts/stale.md"))?;
    stage.agent(&session, "plan_set_content", json!({ "plan_markdown": SECOND })).await?;
    stage.person_is_refused(&format!("plan approve 1 --digest {read}"), Exit::Stale).await?;

    stage.chapter(include_str!("tour/texts/revise.md"))?;
    stage.person("plan revise 1 -- Batches were better. Keep the backups and the old columns.").await?;
    stage.agent(&session, "plan_get", json!({})).await?;
    stage.agent(&session, "plan_set_content", json!({ "plan_markdown": THIRD })).await?;
    stage.person("plan diff 1").await?;

    stage.chapter(include_str!("tour/texts/approve.md"))?;
    let read = stage.digest_of_active(&session).await?;
    stage.person(&format!("plan approve 1 --digest {read}")).await?;

    stage.chapter(include_str!("tour/texts/work.md"))?;
    let done = |evidence: &str| json!({ "status": "done", "evidence": evidence });
    stage.agent(&session, "plan_progress", json!({ "status": "in_progress" })).await?;
    stage.agent(&session, "plan_progress", done("migration 0042 applied")).await?;
    stage.person("plan status").await?;
    stage.agent(&session, "plan_progress", done("18,402 rows, sums equal")).await?;
    stage.agent(&session, "plan_progress", done("the report ran in 4 s")).await?;

    stage.chapter(include_str!("tour/texts/look_back.md"))?;
    stage.person("plan history 1").await?;
    stage.person("verify").await?;

    stage.chapter(include_str!("tour/texts/collect.md"))?;
    stage.person("plan on collect").await?;
    stage.agent(&session, "run_report", json!({ "month": "2026-02" })).await?;
    stage.agent(&session, "send_mail", json!({ "to": "team@example.org", "subject": "The report" })).await?;
    stage.agent(&session, "plan_finalize", json!({ "summary": "Send the report for February" })).await?;
    let read = stage.digest_of_active(&session).await?;
    stage.person("plan show 2").await?;
    stage.person(&format!("plan approve 2 --skip 2 --digest {read}")).await?;

    stage.chapter(include_str!("tour/texts/build.md"))?;
    let specialist = stage.first_specialist();
    stage.person("plan on build").await?;
    stage.agent(&session, "plan_create_draft", json!({ "goal": "Drop the old invoice columns" })).await?;
    stage.agent_is_refused(&session, "plan_submit", json!({})).await?;
    let step = json!({ "description": "Check that nothing reads the old columns", "agent": specialist });
    stage.agent(&session, "plan_add_step", step).await?;
    let metadata = json!({
        "assumptions": ["Two weeks have passed"],
        "risks": ["An unknown report reads them"],
        "verification": ["All reports ran for a week"],
        "files": ["migrations/0043.sql"],
    });
    stage.agent(&session, "plan_set_metadata", metadata).await?;
    stage.agent(&session, "plan_submit", json!({})).await?;
    stage.person("plan show").await?;
    stage.person("plan list").await?;

    stage.chapter(include_str!("tour/texts/end.md"))
}

//! Plans as files of the project: what is written, what a person's edit does, and what is never overwritten.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use planwright_agent::Agent;
use planwright_agent::plan_export::PlanExport;
use planwright_agent::session::input::{Approving, BeginWork, Input, Request};
use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::ids::RequestId;
use planwright_core::plan::export::ExportedPlan;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Committed, Ledger};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::json;
use tempfile::TempDir;

use crate::talk::{Talk as _, Watcher};
use crate::world::{World, person, session};

const FIRST: &str = "# Bake bread\n\n- [ ] Knead\n- [ ] Bake\n";
const SECOND: &str = "# Bake bread\n\n- [ ] Knead well\n- [ ] Bake\n";

struct Exported {
    world: World,
    project: TempDir,
}

fn agent(setup: &AgentSetup, ledger: Arc<dyn Ledger>, model: ScriptedModel) -> Agent {
    let path = "docs/plans/{date}-{slug}.md".parse().unwrap();
    setup.agent_of(setup.engine(ledger).with_plan_files(Arc::new(PlanExport::new(path, setup.files()))), model)
}

/// A session in a project, with plan files, in which the model says this.
async fn exported(replies: impl IntoIterator<Item = Reply>) -> Exported {
    let mut world = World::new([]).await;
    // A turn that leaves steps open pauses the plan.
    world.setup.policy.nudges = 0;
    let model = ScriptedModel::new(replies);
    world.agent = agent(&world.setup, world.setup.ledger().await, model.clone());
    world.model = model;
    world.session = session("session-one");
    let project = TempDir::new().unwrap();
    let chosen = world.send(&format!("/project {}", project.path().display())).await;
    assert!(!chosen.refused(), "{}", chosen.reply);
    Exported { world, project }
}

impl Exported {
    /// A document that waits for the person.
    async fn drafted(more: impl IntoIterator<Item = Reply>) -> Self {
        let drafting = [Reply::call("plan_set_content", json!({"plan_markdown": FIRST})), Reply::text("Please look.")];
        let exported = exported(drafting.into_iter().chain(more)).await;
        exported.world.send("/plan on document").await;
        exported.world.say("Plan bread").await;
        exported
    }

    fn files(&self) -> Vec<PathBuf> {
        files(&self.project.path().join("docs/plans"))
    }

    fn only_file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.only_file()).unwrap()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    let mut files: Vec<_> = entries.unwrap_or_default();
    files.sort();
    files
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[tokio::test]
async fn each_version_decision_and_outcome_is_in_the_file() {
    let done = |step: u32| Reply::call("plan_progress", json!({"step": step, "status": "done", "note": "Fine."}));
    let exported = Exported::drafted([
        Reply::call("plan_set_content", json!({"plan_markdown": SECOND})),
        Reply::text("Changed."),
        done(1),
        done(2),
        Reply::text("Baked."),
    ])
    .await;
    let path = exported.only_file();
    assert!(path.file_name().unwrap().to_str().unwrap().ends_with("-bake-bread.md"), "{path:?}");
    let text = exported.text();
    assert!(text.contains("status: READY\nversion: 1\n") && text.contains(FIRST), "{text}");
    assert!(!text.contains("approved_by"), "{text}");
    exported.world.say("Knead well").await;
    let text = exported.text();
    assert!(text.contains("version: 2\n") && text.contains(SECOND), "{text}");
    exported.world.send("/plan approve").await;
    let text = exported.text();
    let plan = exported.world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Completed);
    let digest = plan.digest();
    for part in [
        "status: COMPLETED\n",
        "approved_by: Ada through cli\n",
        &format!("digest: {digest}\n"),
        &format!("approved_digest: {digest}\n"),
        "- [x] 1. Knead well: COMPLETED (Fine.)\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!ExportedPlan::parse(&text).unwrap().edited);
}

/// As a surface does that switches plan mode without the agent, such as `planwright plan off`.
/// The commands that switch plan mode.
#[derive(Debug, Clone, Copy)]
enum Switch {
    Enable,
    Ensure,
    Disable,
    Finish,
}

impl Switch {
    const ALL: [Self; 4] = [Self::Enable, Self::Ensure, Self::Disable, Self::Finish];

    async fn submit(self, engine: &Engine, session: &SessionIdentity) -> Committed {
        let (sessions, by) = (engine.sessions(), person());
        match self {
            Self::Enable => sessions.enable_plan_mode(session, &by, PlanStyle::Collect).await.unwrap(),
            Self::Ensure => sessions.ensure_plan_mode(session, &by, Some(PlanStyle::Collect)).await.unwrap(),
            Self::Disable => sessions.disable_plan_mode(session, &by).await.unwrap(),
            Self::Finish => sessions.finish_plan_work(session, &by).await.unwrap(),
        }
    }

    /// The style of the plan after the switch.
    fn style_after(self) -> Option<PlanStyle> {
        match self {
            Self::Enable | Self::Ensure => Some(PlanStyle::Collect),
            Self::Disable | Self::Finish => None,
        }
    }
}

#[tokio::test]
async fn an_edit_is_read_before_the_plan_is_no_longer_the_active_one() {
    for switch in Switch::ALL {
        let exported = Exported::drafted([]).await;
        edit(&exported.only_file(), "- [ ] Knead", "- [ ] Knead for ten minutes");
        let switched = switch.submit(exported.world.engine(), &exported.world.session).await;
        let plan = exported.world.plan(1).await;
        assert!(plan.markdown().contains("Knead for ten minutes"), "{switch:?}: {}", plan.markdown());
        let mode = &switched.snapshot.session.unwrap().plan_mode;
        assert_eq!(mode.enabled.then_some(mode.style), switch.style_after(), "{switch:?}");
    }
}

/// A request that is sent again after a crash has to find the switch under its name, and not the edit.
#[tokio::test]
async fn the_name_of_the_request_is_for_the_switch_and_not_for_the_edit_before_it() {
    for switch in Switch::ALL {
        let exported = Exported::drafted([]).await;
        edit(&exported.only_file(), "- [ ] Knead", "- [ ] Knead for ten minutes");
        let engine = || exported.world.engine().as_request(RequestId::new("switch").unwrap());
        let first = switch.submit(&engine(), &exported.world.session).await;
        let again = switch.submit(&engine(), &exported.world.session).await;
        assert_eq!((&again.events, again.plan_mode_before), (&first.events, None), "{switch:?}");
        let mode = &first.snapshot.session.unwrap().plan_mode;
        assert_eq!(mode.enabled.then_some(mode.style), switch.style_after(), "{switch:?}");
    }
}

#[tokio::test]
async fn a_persons_edit_is_a_proposed_version() {
    let exported = Exported::drafted([Reply::text("I see your change.")]).await;
    let before = exported.world.plan(1).await;
    edit(&exported.only_file(), "- [ ] Knead", "- [ ] Knead for ten minutes");
    exported.world.say("What do you think?").await;
    let plan = exported.world.plan(1).await;
    assert_eq!((plan.status, plan.version), (PlanStatus::Ready, before.version + 1));
    assert!(plan.markdown().contains("Knead for ten minutes"));
    assert_ne!(plan.digest(), before.digest());
    let text = exported.text();
    assert!(text.contains("version: 2\n") && !ExportedPlan::parse(&text).unwrap().edited, "{text}");
    let journal = exported.world.engine().ledger().journal(&exported.world.session, 0, 1_000).await.unwrap();
    assert!(journal.iter().any(|entry| entry.body.contains("\"through\":\"disk\"")), "the journal names the editor");
    exported.world.is_sound().await;
}

/// The external agent's version is not written over a person's edit that it has not seen.
#[tokio::test]
async fn an_edit_is_taken_before_an_external_agent_writes() {
    let exported = Exported::drafted([]).await;
    let before = exported.world.plan(1).await;
    edit(&exported.only_file(), "- [ ] Knead", "- [ ] Knead for ten minutes");
    let arguments = json!({ "plan_markdown": SECOND, "expected_digest": before.digest() });
    let (tools, by) = (ExternalTools::new(exported.world.engine()), Actor::agent("codex", "mcp"));
    let arguments = arguments.as_object().unwrap().clone();
    let call = tools.call(&exported.world.session, &by, "plan_set_content", arguments, &|_| false);
    let refused = call.await.outcome.unwrap_err();
    assert_eq!(refused.code, RefusalCode::Conflict);
    assert!(refused.message.contains("+- [ ] Knead for ten minutes"), "{}", refused.message);
    assert!(exported.world.plan(1).await.markdown().contains("Knead for ten minutes"));
}

/// These commands read no other file of the project.
#[tokio::test]
async fn an_edit_is_taken_before_plan_work_is_turned_on_or_off() {
    for command in ["/plan on document", "/plan off", "/plan done"] {
        let exported = Exported::drafted([]).await;
        edit(&exported.only_file(), "- [ ] Knead", "- [ ] Knead well");
        exported.world.send(command).await;
        let plan = exported.world.plan(1).await;
        assert_eq!((plan.version, plan.markdown().trim()), (2, SECOND.trim()), "{command}");
    }
}

#[tokio::test]
async fn an_approval_after_an_edit_is_stale() {
    let exported = Exported::drafted([]).await;
    let shown = exported.world.plan(1).await;
    edit(&exported.only_file(), "- [ ] Bake", "- [ ] Burn");
    let approve = Input::Approve {
        plan: shown.id.clone(),
        digest: shown.digest(),
        approving: Approving::default(),
        begin: BeginWork::Later,
    };
    let request = Request::new(exported.world.place(), person());
    let outcome = exported.world.agent.submit_and_wait(approve, request, &Watcher::none()).await;
    let output = format!("{outcome:?}");
    assert!(output.contains("StaleApproval"), "{output}");
    assert_eq!(exported.world.plan(1).await.status, PlanStatus::Ready);
}

/// The front matter is a copy: it decides nothing.
#[tokio::test]
async fn an_edited_front_matter_approves_nothing() {
    let exported = Exported::drafted([Reply::text("Hello.")]).await;
    edit(&exported.only_file(), "status: READY", "status: APPROVED\napproved_by: Ada through cli");
    exported.world.say("Go").await;
    let plan = exported.world.plan(1).await;
    assert_eq!((plan.status, plan.approval.is_some()), (PlanStatus::Ready, false));
}

#[tokio::test]
async fn an_edit_that_cannot_be_a_version_is_kept_beside_the_file() {
    let done = |step: u32| Reply::call("plan_progress", json!({"step": step, "status": "done"}));
    let exported = Exported::drafted([done(1), Reply::text("Half."), done(2), Reply::text("Baked.")]).await;
    exported.world.send("/plan approve").await;
    let path = exported.only_file();
    edit(&path, "# Bake bread", "# Bake cake");
    exported.world.send("/plan resume").await;
    assert_eq!(exported.world.plan(1).await.status, PlanStatus::Completed);
    let files = exported.files();
    assert_eq!(files.len(), 2, "{files:?}");
    let kept = files.iter().find(|file| file.to_str().unwrap().ends_with(".edited.md")).unwrap();
    assert!(std::fs::read_to_string(kept).unwrap().starts_with("# Bake cake"));
    assert!(std::fs::read_to_string(&path).unwrap().contains("status: COMPLETED"));
}

/// A name that another file has is not taken from it, and a file that a person renamed stays the plan's file.
#[tokio::test]
async fn files_are_found_by_their_plan_and_not_by_their_name() {
    let exported =
        Exported::drafted([Reply::call("plan_set_content", json!({"plan_markdown": SECOND})), Reply::text("Ok.")])
            .await;
    let path = exported.only_file();
    let renamed = path.with_file_name("bread.md");
    std::fs::rename(&path, &renamed).unwrap();
    std::fs::write(&path, "mine\n").unwrap();
    exported.world.say("Knead well").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine\n");
    assert!(std::fs::read_to_string(&renamed).unwrap().contains("Knead well"));
    assert_eq!(exported.files().len(), 2);
}

/// A link in the project does not lead a plan's file out of it.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_leads_out_of_the_project_gets_no_file() {
    let outside = TempDir::new().unwrap();
    let exported =
        exported([Reply::call("plan_set_content", json!({"plan_markdown": FIRST})), Reply::text("Ok.")]).await;
    std::fs::create_dir(exported.project.path().join("docs")).unwrap();
    std::os::unix::fs::symlink(outside.path(), exported.project.path().join("docs/plans")).unwrap();
    exported.world.send("/plan on document").await;
    exported.world.say("Plan bread").await;
    assert_eq!(exported.world.plan(1).await.status, PlanStatus::Ready);
    assert!(files(outside.path()).is_empty());
}

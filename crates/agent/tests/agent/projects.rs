//! Work in a project folder over the whole agent: what calls change, what commands change, and what the project says.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::workspace::{ChangeOrigin, ChangedPaths, Undo, Workspace};
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::Arguments;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{World, person};

/// Changes files of the project without saying so, as a command does.
#[derive(Debug, Clone)]
struct Build {
    spec: ToolSpec,
    project: PathBuf,
}

#[async_trait]
impl Tool for Build {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::Changes
    }

    fn check(&self, _arguments: &Arguments) -> Result<(), Refusal> {
        Ok(())
    }

    async fn call(&self, context: ToolContext<'_>, _arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        assert_eq!(context.workspace, &Workspace::Project { path: real(&self.project) });
        std::fs::write(self.project.join("built.txt"), "built").unwrap();
        std::fs::write(self.project.join("kept.txt"), "changed by a command").unwrap();
        std::fs::remove_file(self.project.join("gone.txt")).unwrap();
        Ok(json!({}).into())
    }

    fn changes_untracked(&self) -> bool {
        true
    }
}

fn real(folder: &Path) -> String {
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn project() -> TempDir {
    let project = TempDir::new().unwrap();
    for name in ["kept.txt", "gone.txt"] {
        std::fs::write(project.path().join(name), name).unwrap();
    }
    project
}

async fn in_project(project: &Path, calls: &[(&str, Value)]) -> World {
    let reply =
        calls.iter().fold(Reply::default(), |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    let model = ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]);
    let spec = ToolSpec { name: "build".to_owned(), description: "Builds.".to_owned(), input_schema: json!({}) };
    let build = Build { spec, project: project.to_owned() };
    let world = World::with(model, |setup| setup.tool(&build)).await;
    assert!(!world.send(&format!("/project {}", project.display())).await.refused());
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    world
}

fn origins(events: &[Event]) -> Vec<ChangeOrigin> {
    let origin = |event: &Event| match event {
        Event::Session(SessionEvent::FilesChanged { origin, .. }) => Some(origin.clone()),
        _ => None,
    };
    events.iter().filter_map(origin).collect()
}

#[tokio::test]
async fn what_a_command_changed_is_named_and_not_covered() {
    let project = project();
    let write = json!({"path": "notes.md", "content": "notes"});
    let world = in_project(project.path(), &[("build", json!({})), ("write_file", write)]).await;
    world.send("/plan approve").await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Completed);
    let execution = plan.execution.as_ref().unwrap();
    let origins = origins(&world.events().await);
    assert_eq!(
        origins.iter().map(|origin| origin.step.clone().unwrap()).collect::<Vec<_>>(),
        [execution.steps[0].step.clone(), execution.steps[1].step.clone()]
    );
    assert!(
        origins
            .iter()
            .all(|origin| origin.plan.as_ref() == Some(&plan.id) && origin.execution.as_ref() == Some(&execution.id))
    );
    let changes = world.agent.plan_changes().read(plan.into(), None).await.unwrap();
    let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        changes.uncovered,
        ChangedPaths {
            added: paths(&["built.txt"]),
            changed: paths(&["kept.txt"]),
            removed: paths(&["gone.txt"]),
            complete: true
        }
    );
    let shown = world.send("/changes").await.reply;
    assert!(shown.contains("Commands changed these files too. They are not covered"), "{shown}");
    world.send("/undo").await;
    assert!(project.path().join("built.txt").exists() && !project.path().join("notes.md").exists());
    world.is_sound().await;
}

/// A file was put back, and the process ended before that was recorded.
#[tokio::test]
async fn an_undo_that_was_not_recorded_is_done_again() {
    let project = project();
    let edit = json!({"path": "kept.txt", "edits": [{"old": "kept", "new": "left"}]});
    let world = in_project(project.path(), &[("edit_file", edit)]).await;
    world.send("/plan approve").await;
    assert_eq!(std::fs::read_to_string(project.path().join("kept.txt")).unwrap(), "left.txt");
    std::fs::write(project.path().join("kept.txt"), "kept.txt").unwrap();
    let answer = world.send("/undo").await;
    assert!(!answer.refused() && answer.undone.unwrap().not_undone.is_empty(), "{}", answer.reply);
    assert_eq!(world.event_names().await.last(), Some(&"changes_undone"));
}

#[tokio::test]
async fn only_a_person_chooses_the_folder_and_has_changes_undone() {
    let project = project();
    let edit = json!({"path": "kept.txt", "edits": [{"old": "kept", "new": "left"}]});
    let world = in_project(project.path(), &[("edit_file", edit)]).await;
    world.send("/plan approve").await;
    let (plan, changes, not_undone) = (Some(world.plan(1).await.id), Vec::new(), Vec::new());
    let undo = Undo { plan, step: None, in_turn: None, changes, not_undone };
    let agent = planwright_core::actor::Actor::agent("model", "cli");
    for command in [SessionCommand::RecordUndo(Box::new(undo)), SessionCommand::ChooseWorkspace(Workspace::Own)] {
        let refused = world.engine().submit(&world.session, &agent, Command::Session(command)).await;
        let Err(LedgerError::Refused(refusal)) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal.code, RefusalCode::PolicyDenied);
    }
}

#[tokio::test]
async fn the_projects_guide_is_cut_at_its_limit_and_never_read_through_a_link_that_leads_out() {
    let (project, outside) = (project(), project());
    let world = World::new([Reply::text("One."), Reply::text("Two."), Reply::text("Three.")]).await;
    world.send(&format!("/project {}", project.path().display())).await;
    std::fs::write(outside.path().join("secret.md"), "swordfish").unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.md"), project.path().join("AGENTS.md")).unwrap();
    std::fs::write(project.path().join("CLAUDE.md"), "Second choice.").unwrap();
    world.say("Hello").await;
    let system = world.model.last_request().system;
    assert!(system.contains("> Second choice.") && !system.contains("swordfish"), "{system}");
    std::fs::remove_file(project.path().join("AGENTS.md")).unwrap();
    std::fs::write(project.path().join("AGENTS.md"), "é".repeat(20_000)).unwrap();
    world.say("Hello").await;
    let system = world.model.last_request().system;
    assert!(system.contains("`AGENTS.md` is longer and was cut here"), "{}", &system[system.len() - 300..]);
    assert_eq!(system.matches('é').count(), 16 * 1024, "no character is split");
    // A folder that is gone is no reason not to answer.
    drop(project);
    assert_eq!(world.say("Hello").await.reply, "Three.");
}

#[tokio::test]
async fn a_new_session_stays_in_the_folder_and_a_running_plan_keeps_it() {
    let project = project();
    let world = in_project(project.path(), &[("list_files", json!({}))]).await;
    let new = world.send("/new").await.session;
    let workspace = world.engine().sessions().get(&new).await.unwrap().workspace;
    assert_eq!(workspace.project(), Some(real(project.path()).as_str()));
    let plan = world.plan(1).await;
    let selection = planwright_core::plan::approval::Selection::All;
    world.approve(1, selection).await;
    let start = Command::Execution(planwright_core::command::ExecutionCommand::Start { plan: plan.id });
    world.engine().submit(&world.session, &person(), start).await.unwrap();
    let refused = world.engine().sessions().choose_workspace(&world.session, &person(), Workspace::Own).await;
    let Err(LedgerError::Refused(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.code, RefusalCode::WrongStatus);
}

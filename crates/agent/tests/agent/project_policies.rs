//! What a project and a person say about plans: specialists of the project, a model for each specialist, and a template.

use std::path::Path;
use std::sync::Arc;

use planwright_agent::tools::{ExternalTools, PlanTools};
use planwright_core::actor::Actor;
use planwright_core::agents::{AgentRegistry, Specialist, SpecialistOptions};
use planwright_core::plan::template::PlanTemplate;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_engine::model::{Model, ModelCatalog};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::specialist_scripts::{proposed, reported, scripted, staffed, step};
use crate::world::{World, person, script};

const TEMPLATE: &str = "# Title\n\n## Goal\n\n## Steps\n\n## How to undo\n";

/// The models by their names.
#[derive(Debug)]
struct Catalog(Vec<ScriptedModel>);

impl ModelCatalog for Catalog {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        let found = self.0.iter().find(|model| model.name() == name).cloned();
        found.map(|model| Arc::new(model) as Arc<dyn Model>).ok_or_else(|| "it has no key".to_owned())
    }
}

fn project(files: &[(&str, &str)]) -> TempDir {
    let project = TempDir::new().unwrap();
    for (name, text) in files {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    project
}

async fn choose(world: &World, project: &Path) {
    let chosen = world.send(&format!("/project {}", project.display())).await;
    assert!(!chosen.refused(), "{}", chosen.reply);
}

fn with_model(name: &str, model: &str) -> AgentRegistry {
    let specialists = AgentRegistry::default().specialists().to_vec().into_iter();
    let changed = specialists.map(|specialist| match specialist.name == name {
        true => {
            let options = SpecialistOptions { model: Some(model.to_owned()), ..SpecialistOptions::default() };
            Specialist { options, ..specialist }
        }
        false => specialist,
    });
    AgentRegistry::new(changed).unwrap()
}

#[tokio::test]
async fn a_specialist_is_answered_by_its_own_model() {
    let other = staffed().named("other:large").script("coder", [reported("done", "Built.")]);
    let catalog = Arc::new(Catalog(vec![other.clone()]));
    let world = proposed(&[step("Build it", "coder", &[]), step("Try it", "tester", &[1])], |setup| {
        setup.policy.agents = with_model("coder", "other:large");
        setup.options.models = Some(catalog);
    })
    .await;
    scripted(&world, "tester", [reported("done", "Tried.")]);
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!((other.requests().len(), world.model.requests_of("coder").len()), (1, 0));
    assert_eq!(world.model.requests_of("tester").len(), 1);
    let actors = world.engine().ledger().journal(&world.session, 0, 1_000).await.unwrap();
    assert!(actors.iter().any(|entry| entry.body.contains("coder, other:large")), "the journal names the model");
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_answered_for() {
    let world = proposed(&[step("Build it", "coder", &[])], |setup| {
        setup.policy.agents = with_model("coder", "other:large");
        setup.options.models = Some(Arc::new(Catalog(Vec::new())));
    })
    .await;
    scripted(&world, "coder", [reported("done", "Built.")]);
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn a_project_brings_specialists_and_only_its_sessions_have_them() {
    let project = project(&[
        ("agents/baker.md", "---\ndescription: Bakes bread\nsandbox: open\ncolor: red\n---\nKnead.\n"),
        ("agents/coder.md", "---\ndescription: Writes Forth\n---\nOnly words.\n"),
        ("agents/README.md", "# About our agents\n"),
        ("agents/broken.md", "---\ndescription: Broken\nseconds: none\n---\nText.\n"),
    ]);
    let draft = Reply::call("plan_create_draft", json!({"goal": "Open the shop", "title": "Shop"}))
        .and_call(
            "plan_set_metadata",
            json!({"assumptions": ["A"], "risks": ["R"], "verification": ["V"], "files": ["f.txt"]}),
        )
        .and_call("plan_add_step", json!({"description": "Bake", "agent": "baker"}));
    let model = staffed()
        .script("", [draft, Reply::call("plan_submit", json!({}))])
        .script("baker", [reported("done", "Baked.")]);
    let world = World::with(model, |_| {}).await;
    choose(&world, project.path()).await;
    world.send("/plan on build").await;
    world.say("Plan the shop").await;
    let system = world.sent(1).system;
    assert!(system.contains("`baker`: Bakes bread") && system.contains("`coder`: Writes Forth"), "{system}");
    assert!(!system.contains("README") && !system.contains("Broken"), "{system}");
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert!(world.model.requests_of("baker")[0].system.contains("Knead."));

    // Another session does not have the project's specialists.
    let other = crate::world::session("session-two");
    let engine = world.engine();
    engine.sessions().open(&other, &person()).await.unwrap();
    engine.sessions().ensure_plan_mode(&other, &person(), Some(PlanStyle::Build)).await.unwrap();
    let call = |tool: &'static str, arguments: Value| {
        let (engine, other) = (engine.clone(), other.clone());
        async move { PlanTools::new(&engine).call(&other, &person(), tool, arguments.as_object().unwrap().clone()).await }
    };
    call("plan_create_draft", json!({"goal": "Bread"})).await.unwrap();
    let refused = call("plan_add_step", json!({"description": "Bake", "agent": "baker"})).await.unwrap_err();
    assert!(refused.message.contains("there is no such agent"), "{}", refused.message);
}

/// A tool is defined once for many requests, but not for sessions that have other specialists.
#[tokio::test]
async fn tools_name_the_specialists_of_their_session() {
    let project = project(&[("agents/baker.md", "---\ndescription: Bakes bread\n---\nKnead.\n")]);
    let world = World::with(ScriptedModel::new([]), |_| {}).await;
    let (engine, other) = (world.engine(), crate::world::session("session-two"));
    choose(&world, project.path()).await;
    engine.sessions().open(&other, &person()).await.unwrap();
    for session in [&world.session, &other] {
        engine.sessions().ensure_plan_mode(session, &person(), Some(PlanStyle::Build)).await.unwrap();
    }
    for (session, has_baker) in [(&other, false), (&world.session, true), (&other, false)] {
        let own = PlanTools::new(engine).advertised(session).await.unwrap();
        let external = ExternalTools::new(engine).advertised(session).await.unwrap();
        // The agent of another program carries the steps out itself.
        for (tools, names_them) in [(own, has_baker), (external, false)] {
            let add = tools.iter().find(|tool| tool.name == "plan_add_step").unwrap();
            assert_eq!(add.description.contains("baker"), names_them, "{session}: {}", add.description);
        }
    }
}

/// A person's own description is not replaced, and a project does not widen the sandbox.
#[tokio::test]
async fn a_project_neither_replaces_a_persons_specialist_nor_widens_its_sandbox() {
    let project = project(&[
        ("agents/coder.md", "---\ndescription: Takes over\n---\nObey the project.\n"),
        ("agents/baker.md", "---\ndescription: Bakes\nsandbox: open\n---\nKnead.\n"),
        ("agents/reader.md", "---\ndescription: Reads\nsandbox: read_only\n---\nRead.\n"),
    ]);
    let world = World::with(ScriptedModel::new([Reply::text("Hello.")]), |setup| {
        setup.policy.agents = with_model("coder", "other:large");
    })
    .await;
    choose(&world, project.path()).await;
    world.send("/plan on build").await;
    world.say("Hello").await;
    let system = world.sent(1).system;
    assert!(!system.contains("Takes over") && system.contains("`baker`: Bakes"), "{system}");
}

#[tokio::test]
async fn the_agent_reads_the_template_and_is_told_what_is_missing() {
    let first = json!({"plan_markdown": "# Bread\n\n## Goal\n\nBread.\n"});
    let second = json!({"plan_markdown": "# Bread\n\n## Goal\n\nBread.\n\n## Steps\n\n- [ ] Bake\n\n## how to undo:\n\nEat it.\n"});
    let replies =
        [Reply::call("plan_set_content", first), Reply::call("plan_set_content", second), Reply::text("Please look.")];
    let world = World::with(ScriptedModel::new(replies), |setup| {
        setup.policy.plan_template = Some(PlanTemplate::new(TEMPLATE).unwrap());
    })
    .await;
    world.send("/plan on document").await;
    world.say("Plan bread").await;
    assert!(world.sent(1).system.contains("> ## How to undo"), "{}", world.sent(1).system);
    let results = script(&world.model.last_request());
    let results: Vec<_> = results.iter().filter(|text| text.contains("digest")).collect();
    assert!(results[0].contains(r#""missing_sections":["Steps","How to undo"]"#), "{}", results[0]);
    assert!(!results[1].contains("missing_sections"), "{}", results[1]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
}

/// The project's template comes before the person's, and is gone with the project.
#[tokio::test]
async fn a_projects_template_comes_first() {
    let project = project(&[("plan-template.md", "## Owner\n")]);
    let world = World::with(ScriptedModel::new([Reply::text("One."), Reply::text("Two.")]), |setup| {
        setup.policy.plan_template = Some(PlanTemplate::new(TEMPLATE).unwrap());
    })
    .await;
    choose(&world, project.path()).await;
    world.send("/plan on document").await;
    world.say("Hello").await;
    let system = world.sent(1).system;
    assert!(system.contains("> ## Owner") && !system.contains("How to undo"), "{system}");
    std::fs::remove_file(project.path().join("plan-template.md")).unwrap();
    world.say("Hello again").await;
    assert!(world.sent(2).system.contains("> ## How to undo"));
}

/// The agent of another program writes without a message of the person in between.
#[tokio::test]
async fn an_external_agent_is_told_what_the_projects_template_says_now() {
    let project = project(&[("plan-template.md", "## Owner\n")]);
    let world = World::new([]).await;
    choose(&world, project.path()).await;
    world.send("/plan on document").await;
    let tools = ExternalTools::new(world.engine());
    let write = async |text: &str| {
        let arguments = json!({ "plan_markdown": text }).as_object().unwrap().clone();
        let by = Actor::agent("codex", "mcp");
        tools.call(&world.session, &by, "plan_set_content", arguments, &|_| false).await.outcome.unwrap()
    };
    assert_eq!(write("# Bread\n").await["missing_sections"], json!(["Owner"]));
    std::fs::write(project.path().join("plan-template.md"), "## Costs\n").unwrap();
    assert_eq!(write("# Bread\n\n## Owner\n").await["missing_sections"], json!(["Costs"]));
}

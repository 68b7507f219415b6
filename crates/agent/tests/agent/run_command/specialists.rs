//! Specialists with tools, a sandbox level and limits of their own.

use planwright_core::agents::{AgentRegistry, Specialist, SpecialistOptions};
use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::Reply;
use planwright_sandbox::SandboxLevel;
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::json;

use super::{sandbox, with_commands};
use crate::specialist_scripts::{proposed, reported, run_statuses, scripted, step};
use crate::world::{script, tool_names};

fn coder(options: SpecialistOptions) -> impl FnOnce(&mut AgentSetup) {
    move |setup| {
        with_commands(|_| {})(setup);
        let specialists = AgentRegistry::default().specialists().to_vec().into_iter();
        let changed = specialists.map(|specialist| match specialist.name.as_str() {
            "coder" => Specialist { options: options.clone(), ..specialist },
            _ => specialist,
        });
        setup.policy.agents = AgentRegistry::new(changed).unwrap();
    }
}

#[tokio::test]
async fn a_specialist_has_only_the_tools_that_are_named() {
    let tools = Some(vec!["read_*".to_owned(), "run_command".to_owned()]);
    let options = SpecialistOptions { tools, ..SpecialistOptions::default() };
    let steps = [step("Build it", "coder", &[]), step("Try it", "tester", &[1])];
    let world = proposed(&steps, coder(options)).await;
    let write = Reply::call("write_file", json!({"path": "made", "content": "x"}));
    scripted(&world, "coder", [write, reported("done", "I could not.")]);
    scripted(&world, "tester", [reported("done", "Fine.")]);
    world.send("/plan approve").await;
    let requests = world.model.requests_of("coder");
    let names = tool_names(&requests[0]);
    assert!(names.contains(&"read_file") && names.contains(&"run_command") && names.contains(&"plan_progress"));
    assert!(!names.contains(&"write_file") && !names.contains(&"list_files"), "{names:?}");
    let told = script(&requests[1]).pop().unwrap();
    assert!(told.contains("POLICY_DENIED") && told.contains("not among the tools of the specialist"), "{told}");
    assert!(!world.files().join("made").exists());
    assert!(tool_names(&world.model.requests_of("tester")[0]).contains(&"write_file"), "others keep theirs");
}

#[tokio::test]
async fn a_specialist_has_a_sandbox_level_of_its_own() {
    let options = SpecialistOptions { sandbox: Some("read_only".to_owned()), ..SpecialistOptions::default() };
    let steps = [step("Look", "coder", &[]), step("Build", "tester", &[1])];
    let world = proposed(&steps, coder(options)).await;
    if let Some(reason) = sandbox(world.folder.path()).support().refusal(SandboxLevel::Workspace) {
        return skip(Prerequisite::Sandbox, &reason);
    }
    let touch = |name: &str| Reply::call("run_command", json!({"command": format!("touch {name}")}));
    scripted(&world, "coder", [touch("by-coder"), reported("done", "Looked.")]);
    scripted(&world, "tester", [touch("by-tester"), reported("done", "Built.")]);
    world.send("/plan approve").await;
    assert!(!world.files().join("by-coder").exists() && world.files().join("by-tester").exists());
}

/// A command that no sandbox confines is asked about, also in the session's own folder.
#[tokio::test]
async fn a_specialist_without_a_sandbox_waits_for_permission() {
    let options = SpecialistOptions { sandbox: Some("open".to_owned()), ..SpecialistOptions::default() };
    let world = proposed(&[step("Build it", "coder", &[])], coder(options)).await;
    scripted(
        &world,
        "coder",
        [Reply::call("run_command", json!({"command": "touch made"})), reported("done", "Built.")],
    );
    world.send("/plan approve").await;
    assert!(!world.files().join("made").exists());
    let asked: Vec<_> = world.event_names().await.into_iter().filter(|name| name.contains("asked")).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[tokio::test]
async fn a_specialist_has_limits_of_its_own() {
    let options = SpecialistOptions { model_calls: Some(2), ..SpecialistOptions::default() };
    let world = proposed(&[step("Build it", "coder", &[])], coder(options)).await;
    let look = |n: u32| Reply::call("run_command", json!({"command": format!("echo {n}")}));
    scripted(&world, "coder", [look(1), look(2), reported("done", "Too late.")]);
    world.send("/plan approve").await;
    assert_eq!(world.model.requests_of("coder").len(), 2);
    assert_eq!(run_statuses(&world, 1).await, [StepStatus::Failed]);
}

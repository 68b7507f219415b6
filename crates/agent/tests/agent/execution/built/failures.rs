//! What happens to the other steps when a step fails, and how the plan continues.

use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus::{Completed, Failed, Pending};
use planwright_core::policy::{OnFailure, Policy};

use super::TWO;
use crate::specialist_scripts::{Step, proposed, reported, run_statuses, runs, scripted, staffed, step, told};
use crate::talk::Talk as _;

const THREE: [Step; 3] = [step("Build", "coder", &[]), step("Try", "tester", &[1]), step("Write", "writer", &[])];

#[tokio::test]
async fn a_failure_leaves_the_rest_and_the_next_attempt_is_told_of_it() {
    let world = proposed(&THREE, |_| {}).await;
    scripted(&world, "coder", [reported("failed", "The wood is wet.")]);
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("1 failed, 2 not begun"), "{}", answer.reply);
    assert!(answer.reply.contains("step 1 failed, Build: The wood is wet."), "{}", answer.reply);
    assert_eq!(run_statuses(&world, 1).await, [Failed, Pending, Pending]);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    scripted(&world, "coder", [reported("failed", "Still wet.")]);
    world.send("/plan resume").await;
    scripted(&world, "coder", [reported("done", "Built.")]);
    scripted(&world, "tester", [reported("done", "Tried.")]);
    scripted(&world, "writer", [reported("done", "Written.")]);
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("3 done"), "{}", answer.reply);
    let requests = world.model.requests_of("coder");
    let message: Vec<_> = requests.iter().map(told).collect();
    assert!(!message[0].contains("Earlier attempts"));
    assert!(message[1].contains("Earlier attempts at this step, the latest last:\n- failed\n> The wood is wet."));
    assert!(message[2].contains("- failed\n> The wood is wet.\n- failed\n> Still wet."), "{}", message[2]);
    let execution = world.plan(1).await.execution.unwrap();
    assert_eq!((execution.number, execution.steps[0].attempts.len()), (3, 2));
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn with_go_on_only_what_needs_the_failed_step_waits() {
    let world = proposed(&THREE, |setup| setup.policy.on_failure = OnFailure::GoOn).await;
    scripted(&world, "coder", [reported("failed", "The wood is wet.")]);
    scripted(&world, "writer", [reported("done", "Written.")]);
    world.send("/plan approve").await;
    assert_eq!(run_statuses(&world, 1).await, [Failed, Pending, Completed]);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert!(world.model.requests_of("tester").is_empty());
    scripted(&world, "coder", [reported("done", "Built.")]);
    scripted(&world, "tester", [reported("done", "Tried.")]);
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("3 done"), "{}", answer.reply);
    assert_eq!(world.model.requests_of("writer").len(), 1, "what is done is not done again");
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn a_failed_step_can_be_left_out_with_what_needs_it() {
    let world = proposed(&THREE, |_| {}).await;
    scripted(&world, "coder", [reported("failed", "The wood is wet.")]);
    world.send("/plan approve").await;
    scripted(&world, "writer", [reported("done", "Written.")]);
    let answer = world.send("/plan resume skip").await;
    assert!(answer.reply.contains("1 done, 2 skipped"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_that_its_specialist_skips_takes_along_what_needs_it() {
    let four = [THREE[0], THREE[1], THREE[2], step("Praise", "writer", &[2])];
    let world = proposed(&four, |_| {}).await;
    scripted(&world, "coder", [reported("skipped", "A till is forbidden here.")]);
    scripted(&world, "writer", [reported("done", "Written.")]);
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("1 done, 3 skipped"), "{}", answer.reply);
    let notes: Vec<_> = runs(&world, 1).await.iter().map(|run| run.note.clone().unwrap()).collect();
    let needs = |step| format!("needs step {step}, which is skipped");
    assert_eq!(notes, ["A till is forbidden here.".to_owned(), needs(1), "Written.".to_owned(), needs(2)]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed, "nothing is left that could be resumed");
    assert!(world.model.requests_of("tester").is_empty());
    world.is_sound().await;
}

pub(super) fn without(name: &str) -> Policy {
    let left = AgentRegistry::default()
        .specialists()
        .iter()
        .filter(|one| one.name != name)
        .cloned()
        .collect::<Vec<Specialist>>();
    Policy { agents: AgentRegistry::new(left).unwrap(), ..Policy::default() }
}

#[tokio::test]
async fn a_plan_whose_agent_is_gone_stays_as_it_is() {
    let world = proposed(&TWO, |_| {}).await;
    let world = world.restart_with(|setup| setup.policy = without("tester")).await;
    let answer = world.send("/plan approve").await;
    assert!(
        answer.reply.contains("It cannot be carried out here") && answer.reply.contains("`tester`"),
        "{}",
        answer.reply
    );
    assert_eq!(world.plan(1).await.status, PlanStatus::Approved);
    let answer = world.send("/plan resume").await;
    assert!(answer.refused() && answer.reply.contains("`tester`: there is no such agent"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Approved);
    assert_eq!(world.model.requests().len(), 2, "nothing was asked but the planner");
    let world = world.restart_with(|setup| setup.policy = Policy::default()).await;
    scripted(&world, "coder", [reported("done", "1")]);
    scripted(&world, "tester", [reported("done", "2")]);
    assert!(world.send("/plan resume").await.reply.contains("2 done"));
    world.is_sound().await;
}

#[tokio::test]
async fn an_agent_that_is_not_needed_may_be_gone() {
    let world = proposed(&THREE, |_| {}).await;
    world.approve(1, Selection::Skip([3].into())).await;
    let world = world.restart_with(|setup| setup.policy = without("writer")).await;
    scripted(&world, "coder", [reported("done", "1")]);
    scripted(&world, "tester", [reported("done", "2")]);
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("2 done, 1 skipped"), "{}", answer.reply);
}

#[tokio::test]
async fn steps_are_done_by_their_own_process_without_the_conversation_of_another() {
    let world = proposed(&TWO, |_| {}).await;
    world.approve(1, Selection::All).await;
    let model = staffed().script("coder", [reported("done", "1")]).script("tester", [reported("done", "2")]);
    let other = world.another(&model, "the other").await;
    let plan = world.plan(1).await;
    other.carry_out(&world.session, &crate::world::person(), &plan.id, &crate::talk::Watcher::none()).await.unwrap();
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!(runs(&world, 1).await.len(), 2);
    world.model.then(planwright_llm::scripted::Reply::text("Fine."));
    world.say("How is it?").await;
    let heard = crate::world::script(&world.model.last_request());
    assert!(heard.iter().all(|line| !line.contains("[Step ")), "{heard:?}");
}

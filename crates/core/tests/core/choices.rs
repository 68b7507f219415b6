//! What can be done now, in every state: one table over status, what waits and style.

use planwright_core::actor::Actor;
use planwright_core::ask::{Ask, AskState, AskSubject, CallToPermit, Question};
use planwright_core::auto::{AutoCommand, AutoRun, RunEnd, RunPause, RunState, StartTarget};
use planwright_core::choices::{
    Activity, Choice, ChoiceKind, PlanChoice, WaitingAsk, ask_choices, choices, external_call_choices, run_choices,
    tool_choices,
};
use planwright_core::command::{Command, StuckChoice};
use planwright_core::ids::{AskId, TurnId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::{Pause, StepPause, StepStatus};
use planwright_core::plan::lifecycle::{Action, Rule};
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::plan::{Feedback, Plan, PlanStatus, PlanStyle};
use planwright_core::slash::{AutoSubcommand, ParsedInput, PlanCommand, SlashCommand, ToolsCommand, parse};
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule};
use serde_json::json;

use crate::world::*;

use PlanStatus::{
    Approved, Cancelled, Collecting, Completed, Executing, PartiallyCompleted, Ready, Rejected, Superseded,
};

/// What a plan waits for beside its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    Feedback,
    /// Step 1 ended and a person looks at it.
    Step,
    /// Step 1 is uncertain.
    Uncertain,
    /// Step 1 failed.
    Failed,
    /// Step 1 failed and step 2 is uncertain.
    FailedAndUncertain,
    Pause,
}

/// A plan of three steps that is carried out.
fn executing(style: PlanStyle) -> Plan {
    let mut world = match style {
        PlanStyle::Document => World::ready_document("- [ ] one\n- [ ] two\n- [ ] three"),
        PlanStyle::Collect => {
            let mut world = World::planning(style);
            for _ in 0..3 {
                world.agent(record_one()).unwrap();
            }
            world.agent(finalize()).unwrap();
            world
        }
        PlanStyle::Build => {
            let mut world = World::draft(&["one", "two", "three"]);
            world.agent(submit()).unwrap();
            world
        }
    };
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.active().clone()
}

fn plan(style: PlanStyle, status: PlanStatus, waits: Waits) -> Plan {
    let mut plan = executing(style);
    plan.status = status;
    if matches!(status, Collecting | Ready | Approved) {
        plan.execution = None;
    }
    let at = plan.updated_at;
    if waits == Waits::Feedback {
        plan.feedback = Some(Feedback { by: Actor::person("ada", "cli"), at, text: "shorter".to_owned() });
    }
    let Some(execution) = &mut plan.execution else { return plan };
    let (first, after_step) = match waits {
        Waits::Nothing | Waits::Feedback | Waits::Pause => (StepStatus::Completed, None),
        Waits::Step => (StepStatus::Completed, Some(StepPause { step: 1, external: false })),
        Waits::Uncertain => (StepStatus::Uncertain, None),
        Waits::Failed | Waits::FailedAndUncertain => (StepStatus::Failed, None),
    };
    if waits == Waits::FailedAndUncertain {
        execution.steps[1].status = StepStatus::Uncertain;
    }
    execution.steps[0].status = first;
    if matches!(waits, Waits::Step | Waits::Pause) {
        execution.pause = Some(Pause::Paused { at, idle_turns: 0, after_step, brake: None });
    }
    plan
}

fn waiting(subject: AskSubject, for_plan: Option<&Plan>) -> WaitingAsk {
    let digest = subject.digest(&TurnId::new("turn-1").unwrap(), 1);
    let asked_at = jiff::Timestamp::UNIX_EPOCH;
    let id = AskId::new("ask-1").unwrap();
    let ask = Ask { id, call: 1, asked_at, subject, digest, state: AskState::Waiting };
    WaitingAsk { session: SESSION.parse().unwrap(), ask, plan: for_plan.map(|plan| plan.id.clone()) }
}

fn permission() -> AskSubject {
    let (tool, arguments) = ("run_command".to_owned(), json!({ "command": "ls" }));
    let (permits, session) = (PermittedCalls::Command { line: "ls".to_owned() }, SESSION.parse().unwrap());
    let always = Some(Box::new(StandingRule { permits, place: RulePlace::Session { session } }));
    AskSubject::Permission(CallToPermit {
        tool,
        arguments,
        reason: "commands are asked".to_owned(),
        paths: Vec::new(),
        always,
    })
}

fn question(choices: &[&str]) -> AskSubject {
    let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    AskSubject::Questions { questions: vec![Question { text: "Which?".to_owned(), choices, many: false }] }
}

fn names(list: &[Choice]) -> Vec<&str> {
    list.iter().map(Choice::name).collect()
}

/// The inbox shows a plan that failed, and names the step that its choices are about.
#[test]
fn a_failed_plan_waits_at_the_step_that_is_decided_about() {
    for style in PlanStyle::ALL {
        let waits = |waits| plan(style, PartiallyCompleted, waits).waiting_for();
        assert!(matches!(waits(Waits::Failed), Some(WaitingFor::StepFailed { position: 1, .. })));
        assert!(matches!(waits(Waits::FailedAndUncertain), Some(WaitingFor::UncertainStep { position: 2, .. })));
        assert_eq!((waits(Waits::Uncertain), waits(Waits::Nothing)), (None, None), "a person stopped it");
        assert!(!plan(style, PartiallyCompleted, Waits::FailedAndUncertain).waits_for_person(), "it holds no run up");
    }
}

#[test]
fn every_state_has_its_choices() {
    let left = || Some(Activity::LeftTo(Actor::agent("coder", "mcp")));
    let asks = |subject| Some(Activity::Asking(Box::new(waiting(subject, Some(&executing(PlanStyle::Document))))));
    let (paused, running) = (|| Some(Activity::Paused), || Some(Activity::Running));
    let on_pause = ["resume", "revise", "stop", "cancel"].as_slice();
    let at_work = ["watch", "revise", "cancel"].as_slice();
    let (decides, resumes) = (["approve", "revise", "reject"].as_slice(), ["resume", "revise", "cancel"].as_slice());
    let rows = [
        (
            Collecting,
            Waits::Nothing,
            None,
            "It is a draft that the agent has not finished. A message continues it.",
            ["revise", "cancel"].as_slice(),
        ),
        (Collecting, Waits::Feedback, None, "The agent has your feedback and drafts again.", &["revise", "cancel"]),
        (Ready, Waits::Nothing, None, "It waits for your decision.", decides),
        (Ready, Waits::Feedback, None, "The agent has your feedback and drafts again.", decides),
        (Approved, Waits::Nothing, None, "It is approved", resumes),
        (Executing, Waits::Nothing, None, "It is being carried out.", at_work),
        (Executing, Waits::Nothing, running(), "It is being carried out.", at_work),
        (Executing, Waits::Nothing, left(), "It is left to coder (agent) through mcp", at_work),
        (Executing, Waits::Nothing, paused(), "It is paused: no process works on it.", on_pause),
        (Executing, Waits::Pause, None, "It is paused: no process works on it.", on_pause),
        (Executing, Waits::Pause, paused(), "It is paused: no process works on it.", on_pause),
        // A turn began on it since.
        (Executing, Waits::Pause, running(), "It is being carried out.", at_work),
        (Executing, Waits::Step, None, "It is paused after step 1", &["next", "revise", "stop"]),
        (Executing, Waits::Step, paused(), "It is paused after step 1", &["next", "revise", "stop"]),
        (Executing, Waits::Uncertain, None, "The result of step 1 is unknown", &["retry", "skip", "stop"]),
        (Executing, Waits::Uncertain, paused(), "The result of step 1 is unknown", &["retry", "skip", "stop"]),
        (
            Executing,
            Waits::Nothing,
            asks(permission()),
            "The agent asks for permission: run_command: ls",
            &["once", "plan", "always", "no"],
        ),
        (Executing, Waits::Nothing, asks(question(&["red", "blue"])), "The agent asks: Which?", &["red", "blue"]),
        (PartiallyCompleted, Waits::Nothing, None, "It ended with steps left open.", resumes),
        (
            PartiallyCompleted,
            Waits::Uncertain,
            None,
            "The result of step 1 is unknown",
            &["retry", "skip", "revise", "cancel"],
        ),
        (
            PartiallyCompleted,
            Waits::Failed,
            None,
            "It failed: step 1 was not done.",
            &["retry", "skip", "revise", "cancel"],
        ),
        (
            PartiallyCompleted,
            Waits::FailedAndUncertain,
            None,
            "It failed. The result of step 2 is unknown",
            &["retry", "skip", "revise", "cancel"],
        ),
        (Completed, Waits::Nothing, None, "It is finished.", &["begin"]),
        (Rejected, Waits::Nothing, None, "It was rejected.", &["begin"]),
        (Cancelled, Waits::Nothing, None, "It was cancelled.", &["begin"]),
        (Superseded, Waits::Nothing, None, "Another plan took its place.", &["begin"]),
    ];
    for status in PlanStatus::ALL {
        assert!(rows.iter().any(|row| row.0 == status), "{status}");
    }
    for (status, waits, activity, situation, expected) in rows {
        for style in PlanStyle::ALL {
            let plan = plan(style, status, waits);
            let found = choices(&plan, activity.as_ref());
            let state = format!("{status} {waits:?} {activity:?} {style}");
            assert!(found.situation.starts_with(situation), "{state}: {}", found.situation);
            assert_eq!(names(&found.list), expected, "{state}");
            for choice in &found.list {
                means_what_it_says(&plan, choice);
            }
        }
    }
}

#[test]
fn tools_are_accepted_and_a_call_of_an_external_agent_is_permitted_once() {
    let [accept] = tool_choices("github").list.try_into().unwrap();
    let ParsedInput::Command(SlashCommand::Tools(ToolsCommand::Accept { .. })) = parse(&accept.command) else {
        panic!("{accept:?}")
    };
    assert_eq!(accept.name(), "accept");
    let of_call = external_call_choices("up__note\u{202e}");
    assert!(!of_call.situation.contains('\u{202e}'), "{}", of_call.situation);
    assert_eq!(names(&of_call.list), ["once", "no"]);
}

/// The command is understood as the choice, and the life cycle permits it.
fn means_what_it_says(plan: &Plan, choice: &Choice) {
    let ParsedInput::Command(command) = parse(&choice.command) else { panic!("{choice:?}") };
    let allowed = |action: Action| assert_ne!(plan.status.rule(action), Rule::No, "{choice:?}");
    match (choice.kind, command) {
        (ChoiceKind::Permit(given), SlashCommand::Allow { grant, .. }) => assert_eq!(grant.unwrap_or(given), given),
        (ChoiceKind::Permit(given), SlashCommand::Deny { .. }) => assert!(!given.permits()),
        (ChoiceKind::Answer, SlashCommand::Answer { text, .. }) => assert_eq!(text, choice.label),
        (ChoiceKind::Plan(kind), SlashCommand::Plan(command)) => match (kind, command) {
            (PlanChoice::Approve, PlanCommand::Approve { plan: Some(_), .. }) => allowed(Action::Approve),
            (PlanChoice::Revise, PlanCommand::Revise { plan: Some(_), feedback }) => {
                assert_eq!(feedback, "WHAT TO CHANGE");
                allowed(Action::Revise);
            }
            (PlanChoice::Reject, PlanCommand::Reject { plan: Some(_), reason: None }) => allowed(Action::Reject),
            (
                PlanChoice::Resume | PlanChoice::Next { after_step: 1 },
                PlanCommand::Resume { plan: Some(_), choice: None },
            ) => {
                allowed(Action::Execute);
            }
            (PlanChoice::Settle(settle), PlanCommand::Resume { plan: Some(_), choice: Some(typed) }) => {
                assert_eq!(settle, typed);
                allowed(Action::Execute);
            }
            (PlanChoice::Cancel, PlanCommand::Cancel { plan: Some(_), reason: None }) => allowed(Action::Cancel),
            (PlanChoice::Watch, PlanCommand::Status) => assert_eq!(plan.status, Executing),
            (PlanChoice::Begin, PlanCommand::On { style: None }) => assert!(plan.status.is_final()),
            (kind, command) => panic!("{kind:?} is typed as {command:?}"),
        },
        (kind, command) => panic!("{kind:?} is typed as {command:?}"),
    }
}

#[test]
fn a_label_names_the_step_that_comes_next() {
    let label = |plan: &Plan, kind: PlanChoice| {
        let list = choices(plan, None).list;
        list.into_iter().find(|choice| choice.kind == ChoiceKind::Plan(kind)).map(|choice| choice.label).unwrap()
    };
    assert_eq!(label(&plan(PlanStyle::Build, Approved, Waits::Nothing), PlanChoice::Resume), "Start");
    assert_eq!(label(&plan(PlanStyle::Build, Executing, Waits::Pause), PlanChoice::Resume), "Resume from step 2");
    let next = PlanChoice::Next { after_step: 1 };
    assert_eq!(label(&plan(PlanStyle::Build, Executing, Waits::Step), next), "Continue with step 2");
    let open = plan(PlanStyle::Build, PartiallyCompleted, Waits::Nothing);
    assert_eq!(label(&open, PlanChoice::Resume), "Resume from step 2");
    let failed = plan(PlanStyle::Build, PartiallyCompleted, Waits::Failed);
    assert_eq!(label(&failed, PlanChoice::Settle(StuckChoice::Retry)), "Retry step 1");
    assert_eq!(label(&failed, PlanChoice::Settle(StuckChoice::Skip)), "Skip step 1");
    let stop = PlanChoice::Settle(StuckChoice::Stop);
    assert_eq!(label(&plan(PlanStyle::Build, Executing, Waits::Uncertain), stop), "Stop here");
}

#[test]
fn an_ask_outside_of_a_plan_is_not_permitted_for_the_plan() {
    assert_eq!(names(&ask_choices(&waiting(permission(), None)).list), ["once", "always", "no"]);
    let two = AskSubject::Questions {
        questions: ["one", "two"]
            .map(|text| Question { text: text.to_owned(), choices: vec!["red".to_owned()], many: false })
            .to_vec(),
    };
    for subject in [question(&[]), two] {
        assert_eq!(ask_choices(&waiting(subject, None)).list, [], "it is answered in words");
    }
}

#[test]
fn a_run_that_waits_continues_or_ends() {
    let mut world = World::new();
    let target = StartTarget::NewGoal { title: "Tidy".to_owned() };
    world.person(Command::Auto(AutoCommand::Start { target, driver: "here".to_owned() })).unwrap();
    let run = world.snapshot.session.as_ref().unwrap().auto.as_ref().unwrap().runs[0].clone();
    let since = run.started_at;
    for (state, situation, expected) in [
        (RunState::Running, "The agent works on its own.", ["stop"].as_slice()),
        (RunState::Paused { reason: RunPause::NoProgress { turns: 3 }, since }, "It is paused: ", &["resume", "stop"]),
        (RunState::Interrupted { since }, "It is interrupted: its process ended.", &["resume", "stop"]),
        (RunState::Ended { end: RunEnd::Completed, at: since, note: None }, "It is over.", &[]),
    ] {
        let run = AutoRun { state, ..run.clone() };
        let found = run_choices(&run);
        assert!(found.situation.starts_with(situation), "{}", found.situation);
        assert_eq!(names(&found.list), expected);
        for choice in &found.list {
            let ParsedInput::Command(SlashCommand::Auto(command)) = parse(&choice.command) else {
                panic!("{choice:?}")
            };
            match choice.kind {
                ChoiceKind::ResumeRun => assert!(matches!(command, AutoSubcommand::Resume { run: Some(_) })),
                _ => assert!(matches!(command, AutoSubcommand::Off { run: Some(_) })),
            }
        }
    }
}

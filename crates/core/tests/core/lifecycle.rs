//! The whole life-cycle table: its words against the rules, and the rules against what really happens.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand, ExecutionCommand, MetadataChange, StepChange};
use planwright_core::decide;
use planwright_core::ids::{ExecutionId, PlanId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::lifecycle::{Action, Rule};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;

use crate::world::*;

/// The table as the design has it, and a column for a person's request for changes.
const TABLE: &str = "
| in status | set content (document) | record step (collect) | edit draft (build) | finalize / submit | approve | reject | revise | execute / resume | cancel |
|---|---|---|---|---|---|---|---|---|---|
| COLLECTING | → READY | stays | stays | → READY (rules above) | no | no | stays | no | → CANCELLED |
| READY | stays, overwritten | no | no | no | → APPROVED | → REJECTED | a document stays, else new draft, this SUPERSEDED | no | → CANCELLED |
| APPROVED | new plan READY, this SUPERSEDED | no | no | no | no | no | new draft, this SUPERSEDED | → EXECUTING | → CANCELLED |
| EXECUTING | new plan READY, this SUPERSEDED, its run stopped | no | no | no | no | no | new draft, this SUPERSEDED, its run stopped | → COMPLETED / PARTIALLY_COMPLETED | → CANCELLED, its run stopped |
| PARTIALLY_COMPLETED | new plan READY, this SUPERSEDED | no | no | no | no | no | new draft, this SUPERSEDED | → EXECUTING, from the first step not done | → CANCELLED |
| the other four | no | no | no | no | no | no | no | no | no |
";

const OTHER_FOUR: [PlanStatus; 4] =
    [PlanStatus::Completed, PlanStatus::Rejected, PlanStatus::Cancelled, PlanStatus::Superseded];

fn parse_rule(cell: &str) -> Rule {
    match cell {
        "no" => Rule::No,
        "stays" | "stays, overwritten" => Rule::Stays,
        "→ READY" | "→ READY (rules above)" => Rule::Becomes(PlanStatus::Ready),
        "→ APPROVED" => Rule::Becomes(PlanStatus::Approved),
        "→ REJECTED" => Rule::Becomes(PlanStatus::Rejected),
        "→ EXECUTING" | "→ EXECUTING, from the first step not done" => Rule::Becomes(PlanStatus::Executing),
        "→ CANCELLED" | "→ CANCELLED, its run stopped" => Rule::Becomes(PlanStatus::Cancelled),
        "→ COMPLETED / PARTIALLY_COMPLETED" => Rule::Ends,
        "new plan READY, this SUPERSEDED"
        | "new plan READY, this SUPERSEDED, its run stopped"
        | "new draft, this SUPERSEDED"
        | "new draft, this SUPERSEDED, its run stopped" => Rule::Supersedes,
        "a document stays, else new draft, this SUPERSEDED" => Rule::Redrafts,
        other => panic!("{other:?} is not in the design"),
    }
}

/// Every cell of the table: 9 statuses and 9 actions.
fn cells() -> Vec<(PlanStatus, Action, Rule, &'static str)> {
    let mut cells = Vec::new();
    for line in TABLE.trim().lines().skip(2) {
        let mut columns = line.trim_matches('|').split('|').map(str::trim);
        let name = columns.next().unwrap();
        let statuses: Vec<_> = match name {
            "the other four" => OTHER_FOUR.to_vec(),
            _ => PlanStatus::ALL.into_iter().filter(|status| status.as_str() == name).collect(),
        };
        let message: Vec<_> = columns.collect();
        assert_eq!(message.len(), Action::ALL.len());
        for status in statuses {
            cells.extend(
                Action::ALL.into_iter().zip(&message).map(|(action, cell)| (status, action, parse_rule(cell), *cell)),
            );
        }
    }
    assert_eq!(cells.len(), 9 * 9);
    cells
}

#[test]
fn the_rules_are_the_table() {
    for (status, action, rule, cell) in cells() {
        assert_eq!(status.rule(action), rule, "{action:?} in {status}: {cell}");
    }
}

#[test]
fn only_the_other_four_are_final() {
    for status in PlanStatus::ALL {
        assert_eq!(status.is_final(), OTHER_FOUR.contains(&status), "{status}");
    }
}

/// A plan of two steps, brought into a status by the commands that lead there.
fn reach(style: PlanStyle, status: PlanStatus) -> (World, PlanId) {
    let mut world = match style {
        PlanStyle::Document => World::planning(style),
        PlanStyle::Collect => {
            let mut world = World::planning(style);
            world.agent(record_one()).unwrap();
            world.agent(record_one()).unwrap();
            world
        }
        PlanStyle::Build => World::draft(&["Pack", "Drive"]),
    };
    let id = world.active().id.clone();
    go_on(&mut world, style, status, &id);
    assert_eq!(world.plan(&id).status, status, "{style}");
    (world, id)
}

fn go_on(world: &mut World, style: PlanStyle, status: PlanStatus, id: &PlanId) {
    let mut after = |earlier| go_on(world, style, earlier, id);
    match status {
        PlanStatus::Collecting => {}
        PlanStatus::Ready => {
            let command = match style {
                PlanStyle::Document => set(TWO_STEPS),
                PlanStyle::Collect => finalize(),
                PlanStyle::Build => submit(),
            };
            world.agent(command).unwrap();
        }
        PlanStatus::Approved => {
            after(PlanStatus::Ready);
            world.approve(Selection::All).unwrap();
        }
        PlanStatus::Executing => {
            after(PlanStatus::Approved);
            world.start().unwrap();
        }
        PlanStatus::Completed => {
            after(PlanStatus::Executing);
            world.run_step("s1");
            world.run_step("s2");
            world.finish().unwrap();
        }
        PlanStatus::PartiallyCompleted => {
            after(PlanStatus::Executing);
            world.run_step("s1");
            world.finish().unwrap();
        }
        PlanStatus::Rejected => {
            after(PlanStatus::Ready);
            world.person(reject(id)).unwrap();
        }
        PlanStatus::Cancelled => {
            world.person(cancel(id)).unwrap();
        }
        PlanStatus::Superseded => {
            after(PlanStatus::Approved);
            world.person(revise(id, "by train")).unwrap();
            // The tools act on the active plan; only a snapshot like this one could lead them to a superseded plan.
            world.snapshot.session.as_mut().unwrap().plan_mode.active_plan = Some(id.clone());
        }
    }
}

/// The commands that attempt an action, and who sends them.
fn attempts(world: &World, id: &PlanId, action: Action) -> Vec<(Actor, Command)> {
    let plan = world.plan(id);
    let agent = || Actor::agent("coder", "mcp");
    let person = || Actor::person("ada", "cli");
    let system = || Actor::system("executor");
    match action {
        Action::SetContent => vec![(agent(), set("1. Stay\n2. Rest"))],
        Action::RecordStep => vec![(agent(), record_one())],
        Action::EditDraft => {
            let goal = MetadataChange { goal: Some("stay".to_owned()), ..MetadataChange::default() };
            let change = StepChange { description: Some("Rest".to_owned()), ..StepChange::default() };
            vec![
                (agent(), metadata(goal)),
                (agent(), add(new_step("Rest"))),
                (agent(), Command::Draft(DraftCommand::UpdateStep { step: step("s2"), change })),
                (agent(), Command::Draft(DraftCommand::RemoveStep { step: step("s2") })),
            ]
        }
        Action::Finalize => match plan.style() {
            PlanStyle::Document | PlanStyle::Collect => vec![(agent(), finalize())],
            PlanStyle::Build => vec![(agent(), submit())],
        },
        Action::Approve => {
            // A rule approves recorded calls only.
            let by_rule = (plan.style() == PlanStyle::Collect).then(|| (policy_actor(), approve(plan, Selection::All)));
            std::iter::once((person(), approve(plan, Selection::All))).chain(by_rule).collect()
        }
        Action::Reject => vec![(person(), reject(id))],
        Action::Revise => vec![(person(), revise(id, "by train"))],
        Action::Execute if plan.status == PlanStatus::Executing => {
            let execution = world.execution();
            vec![(
                system(),
                Command::Execution(ExecutionCommand::Finish { plan: id.clone(), execution, ended: Vec::new() }),
            )]
        }
        Action::Execute => {
            vec![(system(), Command::Execution(ExecutionCommand::Start { plan: id.clone() })), (person(), resume(id))]
        }
        Action::Cancel => vec![(person(), cancel(id))],
    }
}

/// The style whose tools an action belongs to, if it is not for all.
fn belongs_to(action: Action, style: PlanStyle) -> bool {
    match action {
        Action::SetContent => style == PlanStyle::Document,
        Action::RecordStep => style == PlanStyle::Collect,
        Action::EditDraft => style == PlanStyle::Build,
        Action::Finalize => style != PlanStyle::Document,
        Action::Approve | Action::Reject | Action::Revise | Action::Execute | Action::Cancel => true,
    }
}

#[test]
fn every_cell_is_what_happens() {
    for (status, action, rule, cell) in cells() {
        for style in PlanStyle::ALL {
            let (before, id) = reach(style, status);
            for (by, command) in attempts(&before, &id, action) {
                let mut world = before.clone();
                let case = format!("{command:?} on a {style} that is {status}: {cell}");
                let decided = world.send(by, command);
                if !belongs_to(action, style) {
                    assert_eq!(decided.expect_err(&case).code, RefusalCode::PolicyDenied, "{case}");
                    assert_eq!(world.snapshot, before.snapshot, "{case}");
                    continue;
                }
                match rule {
                    Rule::No => {
                        assert_eq!(decided.expect_err(&case).code, RefusalCode::WrongStatus, "{case}");
                        assert_eq!(world.snapshot, before.snapshot, "{case}");
                    }
                    Rule::Stays | Rule::Becomes(_) | Rule::Supersedes | Rule::Redrafts | Rule::Ends => {
                        decided.expect(&case);
                        let rule = match (rule, style) {
                            (Rule::Redrafts, PlanStyle::Document) => Rule::Stays,
                            (Rule::Redrafts, PlanStyle::Collect | PlanStyle::Build) => Rule::Supersedes,
                            (rule, _) => rule,
                        };
                        check_outcome(&before, &world, &id, action, rule, &case);
                    }
                }
            }
        }
    }
}

fn check_outcome(before: &World, after: &World, id: &PlanId, action: Action, rule: Rule, case: &str) {
    let (was, is) = (before.plan(id), after.plan(id));
    match rule {
        Rule::No | Rule::Redrafts => unreachable!(),
        Rule::Stays => {
            assert_eq!(is.status, was.status, "{case}");
            match action {
                // It changes what the plan is asked to become, not what it says.
                Action::Revise => assert_eq!(is.feedback.as_ref().expect(case).text, "by train", "{case}"),
                _ => assert_ne!(is.digest(), was.digest(), "{case}"),
            }
        }
        Rule::Becomes(status) => assert_eq!(is.status, status, "{case}"),
        Rule::Ends => assert_eq!(is.status, PlanStatus::PartiallyCompleted, "{case}"),
        Rule::Supersedes => {
            assert_eq!(is.status, PlanStatus::Superseded, "{case}");
            assert_eq!(is.digest(), was.digest(), "{case}");
            let successor = after.plan(is.superseded_by.as_ref().expect(case));
            let expected = if action == Action::Revise { PlanStatus::Collecting } else { PlanStatus::Ready };
            assert_eq!(successor.status, expected, "{case}");
            assert_eq!(successor.supersedes.as_ref(), Some(id), "{case}");
            assert_eq!(after.active().id, successor.id, "{case}");
        }
    }
    if was.status == PlanStatus::Executing {
        let stopped = is.execution.as_ref().expect(case).finished_at.is_some();
        assert!(stopped, "the execution continues: {case}");
    }
    if was.status == PlanStatus::PartiallyCompleted && is.status == PlanStatus::Executing {
        let execution = is.execution.as_ref().expect(case);
        assert_eq!(execution.step(&step("s1")).expect(case).status, StepStatus::Completed, "{case}");
        assert_eq!(execution.progress().next.expect(case).step, 2, "{case}");
        assert_eq!(execution.number, 2, "{case}");
    }
}

#[test]
fn an_execution_ends_by_what_was_done() {
    for style in PlanStyle::ALL {
        let (mut world, id) = reach(style, PlanStatus::Executing);
        refused(world.start(), RefusalCode::WrongStatus, "a second execution cannot begin");
        refused(world.person(resume(&id)), RefusalCode::WrongStatus, "a second execution cannot begin");
        world.run_step("s1");
        world.run_step("s2");
        world.finish().unwrap();
        assert_eq!(world.plan(&id).status, PlanStatus::Completed);
    }
}

#[test]
fn an_execution_that_is_over_takes_no_outcome() {
    for status in [PlanStatus::Cancelled, PlanStatus::PartiallyCompleted, PlanStatus::Superseded] {
        let (mut world, id) = reach(PlanStyle::Collect, PlanStatus::Executing);
        let execution = world.execution();
        match status {
            PlanStatus::Cancelled => world.person(cancel(&id)).unwrap(),
            PlanStatus::Superseded => world.person(revise(&id, "anew")).unwrap(),
            _ => world.finish().unwrap(),
        };
        assert_eq!(world.plan(&id).status, status);
        let run = |command| Command::Execution(command);
        let plan = id.clone();
        let late = [
            run(begin_step(plan.clone(), execution.clone(), "s1")),
            run(end_step(plan.clone(), execution.clone(), "s1", StepStatus::Completed)),
            run(ExecutionCommand::Finish { plan, execution, ended: Vec::new() }),
        ];
        for command in late {
            let before = world.snapshot.clone();
            refused(world.send(Actor::system("executor"), command), RefusalCode::WrongStatus, "this execution is over");
            assert_eq!(world.snapshot, before);
        }
    }
}

#[test]
fn another_execution_is_not_this_one() {
    let (world, id) = reach(PlanStyle::Collect, PlanStatus::Executing);
    let other = ExecutionId::new("another").unwrap();
    let command = Command::Execution(ExecutionCommand::Finish { plan: id, execution: other, ended: Vec::new() });
    let decided = decide(&world.snapshot, &command, &world.stamp(Actor::system("executor")), &world.policy);
    refused(decided, RefusalCode::WrongStatus, "this execution is over");
}

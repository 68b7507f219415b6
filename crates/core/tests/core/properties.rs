//! What holds whatever is asked, in whatever order.

mod commands;
mod contents;

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{Event, PlanChange};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::plan::diff::{DiffLine, Version, diff};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanContent, PlanStatus, PlanStyle, markdown};
use planwright_core::policy::StandingApproval;
use planwright_core::prompt::plan_block;
use planwright_core::snapshot::{CommandContext, Snapshot};
use planwright_core::visible::visible;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::journal::replay;
use crate::world::{World, record};
pub(crate) use commands::{Act, act, run_act};
use contents::{any_content, any_title, markdown_text, position_ids, reversed};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn any_sequence_of_commands_keeps_every_promise(acts in prop::collection::vec(act(), 1..60)) {
        let mut world = World::unopened("cli:k3yk3y8x");
        let mut ids_seen = BTreeMap::new();
        for act in &acts {
            let before = world.clone();
            let (by, command) = act.on(&world);
            let decided = world.send(by.clone(), command);
            check_changes(before.snapshot.clone(), decided.as_deref().unwrap_or_default(), &world.stamp(by))?;
            if decided.is_err() {
                prop_assert_eq!(&world.snapshot, &before.snapshot);
                prop_assert_eq!(world.journal.len(), before.journal.len());
            }
            check_state(&world)?;
            check_step(&before, &world, act)?;
            check_step_ids(&world, &mut ids_seen)?;
        }
        let (snapshot, head) = replay(&world.snapshot.identity, &world.journal).unwrap();
        prop_assert_eq!(&snapshot, &world.snapshot);
        prop_assert_eq!(head, world.head);
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// Everything that a person would decide is sent by an agent, by the system or by a rule that is not in force.
    #[test]
    fn without_a_person_nothing_is_carried_out(
        style in prop::sample::select(PlanStyle::ALL.to_vec()),
        acts in prop::collection::vec((act(), 0..3_usize), 1..60),
    ) {
        let mut world = World::planning(style);
        world.policy.standing_approval = StandingApproval::Off;
        for (act, kind) in &acts {
            let (by, command) = act.on(&world);
            let kind = [ActorKind::Agent, ActorKind::System, ActorKind::Policy][*kind];
            let by = if by.kind == ActorKind::Person { Actor::new(kind, by.name, by.through) } else { by };
            let events = world.send(by, command).unwrap_or_default();
            let begun = events.iter().find(|event| matches!(event.name(), "plan_approved" | "execution_started"));
            prop_assert!(begun.is_none(), "{:?}", begun);
        }
    }
}

/// The promises are worth something only if the random commands lead everywhere.
#[test]
fn random_commands_reach_every_status_and_every_event() {
    let mut runner = TestRunner::deterministic();
    let mut statuses = BTreeSet::new();
    let mut events = BTreeSet::new();
    for _ in 0..800 {
        let acts = prop::collection::vec(act(), 60).new_tree(&mut runner).unwrap().current();
        let mut world = World::unopened("cli:k3yk3y8x");
        for act in acts {
            let (by, command) = act.on(&world);
            events.extend(world.send(by, command).iter().flatten().map(Event::name));
            statuses.extend(world.statuses());
        }
    }
    assert_eq!(statuses, PlanStatus::ALL.into_iter().collect());
    // A person seldom resumes what was just paused by chance; `execution/pauses.rs` does.
    events.insert("execution_resumed");
    assert_eq!(events.len(), 31, "{events:?}");
}

/// What is true of every state.
fn check_state(world: &World) -> Result<(), TestCaseError> {
    let plans: Vec<_> = world.snapshot.plans.values().collect();
    let Some(session) = &world.snapshot.session else {
        prop_assert!(plans.is_empty());
        return Ok(());
    };
    let mode = &session.plan_mode;
    prop_assert_eq!(mode.enabled, mode.active_plan.is_some(), "the mode is on exactly while a plan is active");
    if let Some(id) = &mode.active_plan {
        let active = world.snapshot.plan(id);
        prop_assert!(active.is_some_and(|plan| plan.session == session.identity && plan.style() == mode.style));
    }
    let numbers: BTreeSet<_> = plans.iter().map(|plan| plan.number).collect();
    prop_assert_eq!(numbers, (1..=session.plans_made).collect());
    prop_assert_eq!(plans.len(), session.plans_made as usize, "a number was given twice");
    if let Some(turn) = &session.turn {
        prop_assert!(turn.ended <= turn.calls, "an outcome without a call");
        prop_assert!(session.topic.is_some(), "an actor began the turn");
    }
    for plan in plans {
        check_plan(plan)?;
    }
    Ok(())
}

fn check_plan(plan: &Plan) -> Result<(), TestCaseError> {
    use PlanStatus::{Approved, Collecting, Completed, Executing, PartiallyCompleted, Ready, Superseded};
    let steps = plan.content.steps();
    let ids: BTreeSet<_> = steps.iter().map(|step| &step.id).collect();
    prop_assert_eq!(ids.len(), steps.len(), "a step's id is used twice");
    for (index, step) in steps.iter().enumerate() {
        prop_assert!(step.needs.iter().all(|need| steps[..index].iter().any(|earlier| earlier.id == *need)));
    }
    let decided = matches!(plan.status, Approved | Executing | Completed | PartiallyCompleted);
    if decided && plan.origin.is_none() {
        let approval = plan.approval.as_ref().expect("it is not approved");
        prop_assert_eq!(approval.digest, plan.digest());
        prop_assert_eq!(approval.approved.len() + approval.skipped.len(), steps.len());
        prop_assert!(!plan.content.is_empty());
    }
    prop_assert!(!(matches!(plan.status, Collecting | Ready) && plan.approval.is_some()));
    let running = plan.execution.as_ref().is_some_and(|execution| execution.finished_at.is_none());
    prop_assert_eq!(running, plan.status == Executing, "an execution is open exactly while the plan is EXECUTING");
    prop_assert_eq!(plan.superseded_by.is_some(), plan.status == Superseded);
    if let (Some(execution), true) = (&plan.execution, plan.approval.as_ref().is_some_and(|it| it.step_by_step)) {
        let under_way = execution.steps.iter().filter(|run| run.status == StepStatus::InProgress).count();
        let most = usize::from(execution.step_pause().is_none());
        prop_assert!(under_way <= most, "a step is under way that no person released");
    }
    Ok(())
}

/// The plans, whether or not their executions wait for a person: the end of a turn says only that.
fn unpaused(world: &World) -> BTreeMap<PlanId, Plan> {
    let mut plans: BTreeMap<_, _> =
        world.snapshot.plans.iter().map(|(id, plan)| (id.clone(), Plan::clone(plan))).collect();
    for plan in plans.values_mut() {
        plan.updated_at = plan.created_at;
        plan.execution.iter_mut().for_each(|execution| execution.pause = None);
    }
    plans
}

/// What is true of every change.
fn check_step(before: &World, after: &World, act: &Act) -> Result<(), TestCaseError> {
    if let (Some(was), Some(is)) = (&before.snapshot.session, &after.snapshot.session) {
        prop_assert!(is.history_from >= was.history_from, "what was summarised comes back");
        if act.is_about_a_turn() {
            prop_assert_eq!(unpaused(after), unpaused(before), "words changed a plan");
            prop_assert_eq!(&is.plan_mode, &was.plan_mode, "words changed the mode");
            prop_assert_eq!(plan_block(&after.snapshot, &[], &[]), plan_block(&before.snapshot, &[], &[]));
        } else if after.snapshot.session != before.snapshot.session && is.turn != was.turn {
            prop_assert_eq!(&is.turn, &None, "only words begin a turn");
        }
    }
    for (id, was) in &before.snapshot.plans {
        let is = after.plan(id);
        if was.status.is_final() {
            prop_assert_eq!(was.as_ref(), is, "a plan that had ended changed");
            continue;
        }
        prop_assert!(was.status == is.status || may_follow(was.status, is.status), "{} > {}", was.status, is.status);
        let overwritten = was.status == PlanStatus::Ready && was.style() == PlanStyle::Document && act.sets_content();
        if was.status != PlanStatus::Collecting && !overwritten {
            prop_assert_eq!(was.digest(), is.digest(), "a frozen text changed");
        }
        prop_assert_eq!(was.number, is.number);
        prop_assert_eq!(was.style(), is.style());
    }
    Ok(())
}

/// An event changes of a plan what it says it changes, and nothing else. Stores write no more than that.
fn check_changes(mut snapshot: Snapshot, events: &[Event], stamp: &CommandContext) -> Result<(), TestCaseError> {
    for event in events {
        let before = snapshot.plans.clone();
        snapshot.apply(event, stamp, 1);
        for (id, was) in &before {
            let is = snapshot.plan(id).unwrap();
            match event.plan_change().filter(|_| event.plan() == Some(id)) {
                None => prop_assert_eq!(is, was.as_ref(), "{} changes a plan", event.name()),
                Some(PlanChange::Plan) => {
                    let steps = |plan: &Plan| plan.execution.as_ref().map(|execution| execution.steps.clone());
                    prop_assert_eq!(steps(is), steps(was), "{} changes how steps went", event.name());
                }
                Some(PlanChange::Everything) => {}
                Some(PlanChange::Pause) => {
                    let mut back = is.clone();
                    back.updated_at = was.updated_at;
                    back.execution.as_mut().unwrap().pause = was.execution.as_ref().unwrap().pause;
                    prop_assert_eq!(&back, was.as_ref(), "{} changes more than the pause", event.name());
                }
                Some(PlanChange::Run(step)) => {
                    let mut back = is.clone();
                    back.updated_at = was.updated_at;
                    back.execution.as_mut().unwrap().pause = was.execution.as_ref().unwrap().pause;
                    let earlier = &was.execution.as_ref().unwrap().steps;
                    for (run, earlier) in back.execution.as_mut().unwrap().steps.iter_mut().zip(earlier) {
                        if run.step == *step {
                            *run = earlier.clone();
                        }
                    }
                    prop_assert_eq!(&back, was.as_ref(), "{} changes more than a step", event.name());
                }
            }
        }
    }
    Ok(())
}

fn may_follow(from: PlanStatus, to: PlanStatus) -> bool {
    use PlanStatus::{
        Approved, Cancelled, Collecting, Completed, Executing, PartiallyCompleted, Ready, Rejected, Superseded,
    };
    match from {
        Collecting => matches!(to, Ready | Cancelled),
        Ready => matches!(to, Approved | Rejected | Cancelled | Superseded),
        // A report on the only step of a document begins and ends its execution.
        Approved => matches!(to, Executing | Completed | PartiallyCompleted | Cancelled | Superseded),
        Executing => matches!(to, Completed | PartiallyCompleted | Cancelled | Superseded),
        PartiallyCompleted => matches!(to, Executing | Cancelled | Superseded),
        Completed | Rejected | Cancelled | Superseded => false,
    }
}

/// An id that a step of a draft had is never given to another one.
fn check_step_ids(
    world: &World,
    seen: &mut BTreeMap<PlanId, (BTreeSet<StepId>, BTreeSet<StepId>)>,
) -> Result<(), TestCaseError> {
    for plan in world.snapshot.plans.values().filter(|plan| plan.style() != PlanStyle::Document) {
        let (present, gone) = seen.entry(plan.id.clone()).or_default();
        let now: BTreeSet<_> = plan.content.steps().into_iter().map(|step| step.id).collect();
        gone.extend(present.difference(&now).cloned());
        prop_assert!(now.is_disjoint(gone), "a removed step's id came back");
        *present = now;
    }
    Ok(())
}

fn version((title, content): &(Option<String>, PlanContent)) -> Version<'_> {
    Version { title: title.as_deref(), content }
}

fn plan_with(title: Option<&str>, content: &PlanContent) -> Plan {
    let id = PlanId::new("p").unwrap();
    let mut plan = Plan::begun(id, "cli:k3yk3y8x".parse().unwrap(), 1, content.style(), jiff::Timestamp::UNIX_EPOCH);
    plan.title = title.map(str::to_owned);
    plan.content = content.clone();
    plan
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn the_digest_changes_exactly_when_the_content_does(
        one in (any_title(), any_content()),
        two in (any_title(), any_content()),
        status in prop::sample::select(PlanStatus::ALL.to_vec()),
        number in 1..9_u32,
    ) {
        let first = plan_with(one.0.as_deref(), &one.1);
        let second = plan_with(two.0.as_deref(), &two.1);
        prop_assert_eq!(first.digest() == second.digest(), one == two);
        let retitled = plan_with(two.0.as_deref(), &one.1);
        prop_assert_eq!(first.digest() == retitled.digest(), one.0 == two.0);
        let mut elsewhere = Plan { status, number, version: 7, id: PlanId::new("q").unwrap(), ..first.clone() };
        elsewhere.session = "web:another1".parse().unwrap();
        prop_assert_eq!(elsewhere.digest(), first.digest());
    }

    #[test]
    fn a_diff_is_empty_exactly_when_nothing_changed(
        one in (any_title(), any_content()),
        two in (any_title(), any_content()),
    ) {
        let of = |from: &(Option<String>, PlanContent), to: &(Option<String>, PlanContent)| {
            diff(version(from), version(to))
        };
        prop_assert!(of(&one, &one.clone()).is_empty());
        let back_to_front = (one.0.clone(), reversed(&one.1));
        for other in [&two, &back_to_front] {
            if (&one.0, position_ids(&one.1)) != (&other.0, position_ids(&other.1)) {
                prop_assert!(!of(&one, other).is_empty());
            }
        }
        let found = of(&one, &two);
        let written = serde_json::to_string(&found).unwrap();
        prop_assert_eq!(serde_json::from_str::<planwright_core::plan::diff::PlanDiff>(&written).unwrap(), found);
    }

    #[test]
    fn the_lines_of_a_diff_lead_from_one_text_to_the_other(one in markdown_text(), two in markdown_text()) {
        let content = |markdown: &str| PlanContent::Document(planwright_core::plan::content::Document { markdown: markdown.to_owned() });
        let (from, to) = (content(&one), content(&two));
        let found = diff(Version { title: None, content: &from }, Version { title: None, content: &to });
        if found.lines.is_empty() {
            prop_assert_eq!(one, two);
            return Ok(());
        }
        let older: Vec<_> = one.split_inclusive('\n').collect();
        let (mut at, mut rebuilt) = (0, String::new());
        for line in &found.lines {
            match line {
                DiffLine::Gap { lines } => {
                    rebuilt.extend(older[at..at + lines].iter().copied());
                    at += lines;
                }
                DiffLine::Same { from, .. } => {
                    prop_assert_eq!(*from, at + 1);
                    rebuilt.push_str(older[at]);
                    at += 1;
                }
                DiffLine::Removed { unended, .. } => {
                    let ended = if *unended { "" } else { "\n" };
                    prop_assert_eq!(format!("{}{ended}", line.text()), older[at]);
                    at += 1;
                }
                DiffLine::Added { unended, .. } => {
                    rebuilt.push_str(&line.text());
                    rebuilt.push_str(if *unended { "" } else { "\n" });
                }
            }
        }
        prop_assert_eq!(at, older.len());
        prop_assert_eq!(rebuilt, two);
    }

    #[test]
    fn steps_are_read_from_any_text(text in markdown_text()) {
        let steps = markdown::steps(&text);
        prop_assert_eq!(&steps, &markdown::steps(&text));
        prop_assert_eq!(steps.is_empty(), text.trim().is_empty());
        for (index, step) in steps.iter().enumerate() {
            prop_assert_eq!(step.id.as_str(), format!("s{}", index + 1));
            prop_assert!(!step.description.trim().is_empty());
            prop_assert!(!step.description.contains('\n'));
        }
        prop_assert_eq!(markdown::title(&text), markdown::title(&text));
    }

    #[test]
    fn numbers_in_arguments_come_back_from_the_journal_as_they_were(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let mut world = World::planning(PlanStyle::Collect);
        // A caller's number comes in as text, just as it does over the wire.
        let arguments = serde_json::from_str(&format!("{{\"n\":{number}}}")).unwrap();
        world.agent(record("send", arguments)).unwrap();
        let (snapshot, _) = replay(&world.snapshot.identity, &world.journal).unwrap();
        prop_assert_eq!(snapshot.active().unwrap().digest(), world.active().digest());
    }

    #[test]
    fn what_is_shown_can_be_read_back(text in hidden_text()) {
        let shown = visible(&text);
        prop_assert_eq!(read_back(&shown), text.replace("\r\n", "\n"));
        prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !(c.is_control() || HIDDEN.contains(&c))));
    }
}

const HIDDEN: [char; 10] = [
    '\u{200b}',
    '\u{202e}',
    '\u{2066}',
    '\u{feff}',
    '\u{ad}',
    '\u{61c}',
    '\u{2028}',
    '\u{e0041}',
    '\u{180e}',
    '\u{3164}',
];

fn hidden_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(HIDDEN.to_vec()).prop_map(String::from),
        prop::sample::select(vec!["⟦", "⟧", "U+202E", "⟦U+202E⟧", "\r\n", "\r", "\n", "a", "\u{1b}[0m"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(pieces, 0..20).prop_map(|pieces| pieces.concat())
}

/// Undoes the notation. That it can be undone means that no two texts look the same.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((plain, noted)) = rest.split_once("⟦U+") {
        text.push_str(plain);
        let (code, after) = noted.split_once('⟧').unwrap();
        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = after;
    }
    text + rest
}

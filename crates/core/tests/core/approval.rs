//! A person's yes: to exactly the text that was shown, and to all of its steps or some.

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{AfterApproval, Command, Decision, NewStep};
use planwright_core::plan::approval::{Approval, Selection};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::policy::StandingApproval;
use planwright_core::refusal::RefusalCode;

use crate::world::*;

fn only(positions: &[usize]) -> Selection {
    Selection::Only(positions.iter().copied().collect())
}

fn skip(positions: &[usize]) -> Selection {
    Selection::Skip(positions.iter().copied().collect())
}

/// Four steps: 2 needs 1, 3 needs nothing, 4 needs 2 and 3.
fn proposal() -> World {
    let mut world = World::draft(&["one", "two"]);
    world.agent(add(new_step("three"))).unwrap();
    world.agent(add(NewStep { needs: vec![step("s2"), step("s3")], ..new_step("four") })).unwrap();
    world.agent(submit()).unwrap();
    world
}

fn collected(steps: usize) -> World {
    let mut world = World::planning(PlanStyle::Collect);
    for _ in 0..steps {
        world.agent(record_one()).unwrap();
    }
    world.agent(finalize()).unwrap();
    world
}

fn approval(world: &World) -> &Approval {
    world.active().approval.as_ref().unwrap()
}

#[test]
fn skipped_steps_take_along_what_needs_them() {
    for (selection, approved, skipped) in [
        (Selection::All, "s1 s2 s3 s4", ""),
        (skip(&[]), "s1 s2 s3 s4", ""),
        (only(&[1, 2, 3, 4]), "s1 s2 s3 s4", ""),
        (
            skip(&[1]),
            "s3",
            "s1 left out by the approval; s2 needs step 1, which is skipped; s4 needs step 2, which is skipped",
        ),
        (skip(&[3]), "s1 s2", "s3 left out by the approval; s4 needs step 3, which is skipped"),
        (skip(&[4]), "s1 s2 s3", "s4 left out by the approval"),
        (only(&[1, 3]), "s1 s3", "s2 left out by the approval; s4 left out by the approval"),
        (
            only(&[1, 4]),
            "s1",
            "s2 left out by the approval; s3 left out by the approval; s4 needs step 2, which is skipped",
        ),
    ] {
        let mut world = proposal();
        world.approve(selection.clone()).unwrap();
        let found: Vec<_> = approval(&world).approved.iter().map(|step| step.as_str()).collect();
        assert_eq!(found.join(" "), approved, "{selection:?}");
        let found: Vec<_> = approval(&world).skipped.iter().map(|left| format!("{} {}", left.step, left.why)).collect();
        assert_eq!(found.join("; "), skipped, "{selection:?}");
    }
}

#[test]
fn a_selection_must_fit_the_plan() {
    for (selection, expected) in [
        (only(&[5]), "There is no step 5; the plan has steps 1 to 4."),
        (skip(&[0]), "There is no step 0"),
        (only(&[]), "No step would be left to do"),
        (skip(&[1, 3]), "No step would be left to do"),
        (skip(&[1, 2, 3, 4]), "No step would be left to do"),
        (only(&[2]), "No step would be left to do"),
    ] {
        let mut world = proposal();
        refused(world.approve(selection), RefusalCode::InvalidArgument, expected);
        assert_eq!(world.active().status, PlanStatus::Ready);
    }
}

#[test]
fn recorded_calls_are_chosen_one_by_one() {
    let mut world = collected(3);
    world.approve(skip(&[2])).unwrap();
    let found: Vec<_> = approval(&world).approved.iter().map(|step| step.as_str()).collect();
    assert_eq!(found, ["s1", "s3"]);
}

#[test]
fn a_document_is_approved_as_a_whole() {
    for selection in [only(&[1]), skip(&[2]), skip(&[])] {
        let mut world = World::ready_document(TWO_STEPS);
        refused(world.approve(selection), RefusalCode::InvalidArgument, "approved as a whole");
    }
}

#[test]
fn an_approval_of_another_text_is_stale() {
    let mut world = World::ready_document("one");
    let shown = approve(world.active(), Selection::All);
    world.agent(set("two")).unwrap();
    let before = world.snapshot.clone();
    refused(world.person(shown.clone()), RefusalCode::StaleApproval, "has changed since it was shown");
    assert_eq!(world.snapshot, before);
    world.agent(set("one")).unwrap();
    world.person(shown).unwrap();
    assert_eq!(world.active().status, PlanStatus::Approved);
}

#[test]
fn a_new_title_makes_an_approval_stale_too() {
    let mut world = World::ready_document("one");
    let shown = approve(world.active(), Selection::All);
    let titled =
        planwright_core::command::DraftCommand::SetContent { markdown: "one".to_owned(), title: Some("T".to_owned()) };
    world.agent(Command::Draft(titled)).unwrap();
    refused(world.person(shown), RefusalCode::StaleApproval, "");
}

#[test]
fn an_approval_says_who_when_through_what_and_for_what() {
    let mut world = proposal();
    let digest = world.active().digest();
    let plan = world.active().id.clone();
    let note = Some("  mind the rain ".to_owned());
    world
        .person(Command::Decide(Decision::Approve {
            plan,
            digest,
            selection: Selection::All,
            note,
            step_by_step: false,
            then: AfterApproval::Wait,
        }))
        .unwrap();
    let approval = approval(&world);
    assert_eq!(approval.by, Actor::person("ada", "cli"));
    assert_eq!(approval.digest, digest);
    assert_eq!(approval.note.as_deref(), Some("mind the rain"));
    assert_eq!(approval.at, world.active().updated_at);
}

#[test]
fn a_standing_policy_may_approve_and_is_recorded_as_one() {
    let mut world = proposal();
    let built = approve(world.active(), Selection::All);
    refused(world.send(policy_actor(), built), RefusalCode::PolicyDenied, "A rule approves recorded calls");
    let mut world = collected(2);
    let some = approve(world.active(), Selection::Only([1].into()));
    refused(world.send(policy_actor(), some), RefusalCode::PolicyDenied, "all of them");
    let command = approve(world.active(), Selection::All);
    world.policy.standing_approval = StandingApproval::Off;
    refused(world.send(policy_actor(), command.clone()), RefusalCode::PolicyDenied, "Only a person decides");
    world.policy.standing_approval = StandingApproval::ReadOnly;
    world.send(policy_actor(), command).unwrap();
    assert_eq!(approval(&world).by.kind, ActorKind::Policy);
}

#[test]
fn only_people_decide() {
    let world = World::ready_document(TWO_STEPS);
    let id = world.active().id.clone();
    let settle =
        Decision::Settle { plan: id.clone(), step: step("s1"), choice: planwright_core::command::StuckChoice::Skip };
    let decisions = [
        approve(world.active(), Selection::All),
        reject(&id),
        revise(&id, "more"),
        cancel(&id),
        resume(&id),
        Command::Decide(settle),
    ];
    for kind in [ActorKind::Agent, ActorKind::System, ActorKind::Policy] {
        for command in &decisions {
            if kind == ActorKind::Policy && matches!(command, Command::Decide(Decision::Approve { .. })) {
                continue;
            }
            let mut world = world.clone();
            let before = world.snapshot.clone();
            refused(
                world.send(Actor::new(kind, "x", "y"), command.clone()),
                RefusalCode::PolicyDenied,
                "Only a person decides",
            );
            assert_eq!(world.snapshot, before);
        }
    }
}

#[test]
fn a_plan_that_is_not_there_cannot_be_decided_on() {
    let mut world = World::ready_document("x");
    let elsewhere = planwright_core::ids::PlanId::new("of-another-session").unwrap();
    for command in [reject(&elsewhere), cancel(&elsewhere), revise(&elsewhere, "x"), resume(&elsewhere)] {
        refused(
            world.person(command),
            RefusalCode::NotFound,
            "There is no plan of-another-session in session cli:k3yk3y8x.",
        );
    }
    refused(World::unopened(SESSION).person(cancel(&elsewhere)), RefusalCode::NotFound, "There is no session");
}

#[test]
fn reasons_and_notes_are_trimmed_and_have_a_largest_size() {
    for (given, kept) in [(None, None), (Some(" "), None), (Some(" too dear\n"), Some("too dear"))] {
        let mut world = World::ready_document("x");
        let plan = world.active().id.clone();
        world.person(Command::Decide(Decision::Reject { plan, reason: given.map(str::to_owned) })).unwrap();
        assert_eq!(world.only_plan().ending.as_ref().unwrap().reason.as_deref(), kept);
    }
    let long = || "x".repeat(16 * 1024 + 1);
    let mut world = World::ready_document("x");
    let (plan, digest) = (world.active().id.clone(), world.active().digest());
    for decision in [
        Decision::Reject { plan: plan.clone(), reason: Some(long()) },
        Decision::Cancel { plan: plan.clone(), reason: Some(long()) },
        Decision::Revise { plan: plan.clone(), feedback: long() },
        Decision::Approve {
            plan: plan.clone(),
            digest,
            selection: Selection::All,
            note: Some(long()),
            step_by_step: false,
            then: AfterApproval::Wait,
        },
    ] {
        refused(world.person(Command::Decide(decision)), RefusalCode::LimitExceeded, "16385 bytes; at most 16384");
    }
    refused(world.person(revise(&plan, " \n")), RefusalCode::InvalidArgument, "The feedback is blank");
}

mod revision {
    use super::*;

    #[test]
    fn a_ready_document_waits_for_its_next_text() {
        let mut world = World::ready_document("one");
        let id = world.active().id.clone();
        assert_eq!(names(&world.person(revise(&id, " by train ")).unwrap()), ["revision_requested"]);
        assert_eq!(world.active().feedback.as_ref().unwrap().text, "by train");
        assert_eq!(world.statuses(), [PlanStatus::Ready]);
        world.agent(set("two")).unwrap();
        assert_eq!(world.active().feedback, None);
    }

    #[test]
    fn a_parked_document_becomes_active_again() {
        let mut world = World::ready_document("one");
        let id = world.active().id.clone();
        world.person(off()).unwrap();
        world.person(revise(&id, "by train")).unwrap();
        assert!(world.enabled());
        assert_eq!(world.active().id, id);
    }

    #[test]
    fn a_proposal_is_frozen_and_a_new_draft_goes_on_from_it() {
        let mut world = proposal();
        let first = world.active().id.clone();
        world.person(revise(&first, "no rain")).unwrap();
        assert_eq!(world.statuses(), [PlanStatus::Superseded, PlanStatus::Collecting]);
        let draft = world.active();
        assert_eq!(draft.content.steps(), world.plan(&first).content.steps());
        assert_eq!(draft.feedback.as_ref().unwrap().text, "no rain");
        assert_eq!((draft.number, &draft.supersedes), (2, &Some(first)));
        world.agent(add(new_step("five"))).unwrap();
        assert_eq!(world.active().content.steps()[4].id, step("s5"));
    }

    #[test]
    fn a_collected_plan_is_collected_anew() {
        let mut world = collected(2);
        let first = world.active().id.clone();
        world.person(revise(&first, "fewer")).unwrap();
        assert_eq!(world.statuses(), [PlanStatus::Superseded, PlanStatus::Collecting]);
        assert!(world.active().content.is_empty());
        world.agent(record_one()).unwrap();
        assert_eq!(world.active().content.steps()[0].id, step("s3"));
    }

    #[test]
    fn feedback_to_a_parked_draft_brings_it_back() {
        let mut world = World::draft(&["a"]);
        let id = world.active().id.clone();
        world.person(off()).unwrap();
        let events = world.person(revise(&id, "go on")).unwrap();
        assert_eq!(names(&events), ["revision_requested", "plan_mode_enabled"]);
        assert_eq!((world.active().id.clone(), world.active().status), (id, PlanStatus::Collecting));
        assert_eq!(world.active().feedback.as_ref().unwrap().text, "go on");
    }

    #[test]
    fn what_was_asked_before_still_stands_until_a_new_text_answers_it() {
        let mut world = World::ready_document("one");
        let id = world.active().id.clone();
        world.person(revise(&id, "shorter")).unwrap();
        world.person(revise(&id, "and in English")).unwrap();
        assert_eq!(world.active().feedback.as_ref().unwrap().text, "shorter\n\nand in English");
        assert!(world.agent(set("one")).unwrap().is_empty(), "the same text is no answer");
        assert!(world.active().feedback.is_some());
        world.agent(set("two")).unwrap();
        assert_eq!(world.active().feedback, None);
    }

    #[test]
    fn an_empty_plan_makes_room_for_the_one_that_is_taken_up() {
        let mut world = World::ready_document("one");
        let id = world.active().id.clone();
        world.person(off()).unwrap();
        world.person(on(PlanStyle::Document)).unwrap();
        world.person(revise(&id, "go on")).unwrap();
        assert_eq!(world.active().id, id);
        assert_eq!(world.statuses(), [PlanStatus::Ready, PlanStatus::Cancelled]);
    }

    #[test]
    fn a_plan_that_waits_with_feedback_is_not_empty() {
        let mut world = collected(1);
        let first = world.active().id.clone();
        world.person(revise(&first, "another way")).unwrap();
        world.person(done()).unwrap();
        assert_eq!(world.statuses(), [PlanStatus::Superseded, PlanStatus::Collecting]);
    }

    #[test]
    fn a_finished_plan_has_nothing_to_revise() {
        let mut rejected = World::ready_document("x");
        let id = rejected.active().id.clone();
        rejected.person(reject(&id)).unwrap();
        refused(rejected.person(revise(&id, "x")), RefusalCode::WrongStatus, "there is nothing to revise");
    }
}

mod carrying_out {
    use planwright_core::plan::execution::StepStatus::{self, Completed, Pending, Skipped};

    use super::*;

    fn approve_and_begin(world: &mut World, plan: &planwright_core::ids::PlanId, selection: Selection) -> Decided {
        let digest = world.plan(plan).digest();
        let (plan, then) = (plan.clone(), AfterApproval::CarryOut);
        world.person(Command::Decide(Decision::Approve {
            plan,
            digest,
            selection,
            note: None,
            step_by_step: false,
            then,
        }))
    }

    #[test]
    fn the_work_begins_with_the_approval_in_every_style() {
        const BOTH: &str = "plan_approved execution_started";
        type Row = (&'static str, World, Selection, bool, &'static str, &'static [StepStatus], PlanStatus);
        let document = || World::ready_document(TWO_STEPS);
        let ticked = || World::ready_document("- [x] one\n- [x] two");
        let rows: [Row; 8] = [
            ("document", document(), Selection::All, false, BOTH, &[Pending, Pending], PlanStatus::Executing),
            (
                "a parked document",
                document(),
                Selection::All,
                true,
                "plan_approved execution_started plan_mode_enabled",
                &[Pending, Pending],
                PlanStatus::Executing,
            ),
            (
                "a ticked document",
                ticked(),
                Selection::All,
                false,
                "plan_approved execution_started execution_finished",
                &[Completed, Completed],
                PlanStatus::Completed,
            ),
            ("collect", collected(2), Selection::All, false, BOTH, &[Pending, Pending], PlanStatus::Executing),
            ("a parked collect", collected(2), Selection::All, true, BOTH, &[Pending, Pending], PlanStatus::Executing),
            ("a part of it", collected(2), skip(&[1]), false, BOTH, &[Skipped, Pending], PlanStatus::Executing),
            ("build", proposal(), Selection::All, false, BOTH, &[Pending; 4], PlanStatus::Executing),
            (
                "a part of a parked build",
                proposal(),
                skip(&[1]),
                true,
                BOTH,
                &[Skipped, Skipped, Pending, Skipped],
                PlanStatus::Executing,
            ),
        ];
        for (name, mut world, selection, parked, events, steps, status) in rows {
            let plan = world.active().id.clone();
            if parked {
                world.person(off()).unwrap();
            }
            let decided = approve_and_begin(&mut world, &plan, selection).unwrap();
            assert_eq!(names(&decided).join(" "), events, "{name}");
            let plan = world.plan(&plan);
            let execution = plan.execution.as_ref().unwrap();
            assert_eq!(execution.steps.iter().map(|run| run.status).collect::<Vec<_>>(), steps, "{name}");
            assert_eq!((plan.status, execution.number), (status, 1), "{name}");
            assert_eq!(plan.approval.as_ref().unwrap().by.kind, ActorKind::Person, "{name}");
        }
    }

    #[test]
    fn an_approval_that_is_refused_begins_nothing() {
        let mut world = World::ready_document("one");
        let plan = world.active().id.clone();
        let digest = world.active().digest();
        world.agent(set("two")).unwrap();
        let before = world.snapshot.clone();
        let (selection, then) = (Selection::All, AfterApproval::CarryOut);
        let stale = Decision::Approve { plan: plan.clone(), digest, selection, note: None, step_by_step: false, then };
        refused(world.person(Command::Decide(stale)), RefusalCode::StaleApproval, "has changed");
        refused(approve_and_begin(&mut world, &plan, only(&[1])), RefusalCode::InvalidArgument, "as a whole");
        assert_eq!(world.snapshot, before);
        approve_and_begin(&mut world, &plan, Selection::All).unwrap();
        let again = approve_and_begin(&mut world, &plan, Selection::All);
        refused(again, RefusalCode::WrongStatus, "EXECUTING");
    }

    #[test]
    fn a_rule_may_begin_the_work_too_and_is_recorded_as_a_rule() {
        let mut world = collected(1);
        let (plan, digest) = (world.active().id.clone(), world.active().digest());
        let (selection, then) = (Selection::All, AfterApproval::CarryOut);
        let approve =
            Command::Decide(Decision::Approve { plan, digest, selection, note: None, step_by_step: false, then });
        let mut off = world.clone();
        off.policy.standing_approval = StandingApproval::Off;
        refused(off.send(policy_actor(), approve.clone()), RefusalCode::PolicyDenied, "Only a person decides");
        world.send(policy_actor(), approve).unwrap();
        assert_eq!(approval(&world).by.kind, ActorKind::Policy);
        assert_eq!(world.active().status, PlanStatus::Executing);
    }
}

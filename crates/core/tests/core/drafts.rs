//! What an agent may do to the plan it drafts, in each style.

use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::command::{Command, DraftCommand, MetadataChange, NewStep, StepChange};
use planwright_core::ids::StepId;
use planwright_core::plan::content::Built;
use planwright_core::plan::{PlanContent, PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use crate::world::*;

fn built(world: &World) -> &Built {
    match &world.active().content {
        PlanContent::Build(built) => built,
        PlanContent::Document(_) | PlanContent::Collect(_) => panic!("not a built plan"),
    }
}

fn order(world: &World) -> Vec<String> {
    built(world).steps.iter().map(|step| format!("{} {}", step.id, step.description)).collect()
}

pub(crate) fn update(id: &str, change: StepChange) -> Command {
    Command::Draft(DraftCommand::UpdateStep { step: step(id), change })
}

fn remove(id: &str) -> Command {
    Command::Draft(DraftCommand::RemoveStep { step: step(id) })
}

fn needs(ids: &[&str]) -> Vec<StepId> {
    ids.iter().map(|id| step(id)).collect()
}

mod document {
    use super::*;

    fn titled(markdown: &str, title: &str) -> Command {
        Command::Draft(DraftCommand::SetContent { markdown: markdown.to_owned(), title: Some(title.to_owned()) })
    }

    #[test]
    fn is_kept_byte_for_byte() {
        for markdown in ["# A\r\n\n1. b  \n\n", "\u{feff}x", "  leading", "tab\tand \u{202e}hidden"] {
            let world = World::ready_document(markdown);
            assert_eq!(
                world.active().content,
                PlanContent::Document(planwright_core::plan::content::Document { markdown: markdown.to_owned() })
            );
            assert_eq!(world.active().status, PlanStatus::Ready);
        }
    }

    #[test]
    fn blank_text_is_refused_and_changes_nothing() {
        for mut world in [World::planning(PlanStyle::Document), World::ready_document(TWO_STEPS)] {
            for blank in ["", " ", "\n\t \r\n", "\u{a0}\u{2003}"] {
                let before = world.snapshot.clone();
                refused(world.agent(set(blank)), RefusalCode::InvalidArgument, "The plan is blank.");
                assert_eq!(world.snapshot, before);
            }
        }
    }

    #[test]
    fn text_has_a_largest_size() {
        let mut world = World::planning(PlanStyle::Document);
        world.policy.limits.plan_bytes = 10;
        refused(world.agent(set("12345678901")), RefusalCode::LimitExceeded, "11 bytes; at most 10");
        world.agent(set("1234567890")).unwrap();
        refused(world.agent(set("äöüäöü")), RefusalCode::LimitExceeded, "12 bytes");
    }

    #[test]
    fn each_text_is_a_version() {
        let mut world = World::ready_document("one");
        assert_eq!(world.active().version, 1);
        world.agent(set("two")).unwrap();
        assert_eq!((world.active().version, world.active().status), (2, PlanStatus::Ready));
        assert_eq!(world.snapshot.plans.len(), 1);
    }

    #[test]
    fn a_document_has_as_many_steps_as_any_plan() {
        let mut world = World::planning(PlanStyle::Document);
        let tasks = |count: usize| "- [ ] one\n".repeat(count);
        refused(world.agent(set(&tasks(501))), RefusalCode::LimitExceeded, "would have 501 steps");
        world.agent(set(&tasks(500))).unwrap();
        world.agent(set(&"a line of prose\n".repeat(2_000))).unwrap();
    }

    #[test]
    fn the_text_that_is_there_is_no_new_version() {
        let mut world = World::ready_document("one");
        assert!(world.agent(set("one")).unwrap().is_empty());
        assert_eq!(world.active().version, 1);
    }

    #[test]
    fn a_title_belongs_to_the_text_it_came_with() {
        let mut world = World::planning(PlanStyle::Document);
        world.agent(titled("one", "  First ")).unwrap();
        assert_eq!(world.active().title.as_deref(), Some("First"));
        world.agent(set("two")).unwrap();
        assert_eq!(world.active().title.as_deref(), None);
        refused(world.agent(titled("three", " ")), RefusalCode::InvalidArgument, "The title is blank.");
        refused(
            world.agent(titled("three", &"x".repeat(16 * 1024 + 1))),
            RefusalCode::LimitExceeded,
            "The title has 16385 bytes",
        );
        world.agent(titled("three", "Third")).unwrap();
        assert_eq!(world.active().title.as_deref(), Some("Third"));
    }

    #[test]
    fn a_successor_begins_with_the_new_text() {
        let mut world = World::planning(PlanStyle::Document);
        world.agent(titled("one", "Move")).unwrap();
        world.approve(Default::default()).unwrap();
        let first = world.active().id.clone();
        let events = world.agent(set("two")).unwrap();
        assert_eq!(names(&events), ["plan_created", "content_set", "plan_superseded"]);
        let (old, new) = (world.plan(&first), world.active());
        assert_eq!((new.number, new.version, new.title.as_deref()), (2, 1, None));
        assert_eq!(new.supersedes.as_ref(), Some(&first));
        assert_eq!(old.superseded_by.as_ref(), Some(&new.id));
        assert!(old.approval.is_some() && new.approval.is_none(), "an approval went over to another text");
    }
}

mod collected {
    use super::*;

    #[test]
    fn calls_are_written_down_in_order() {
        let mut world = World::planning(PlanStyle::Collect);
        for n in 1..=3 {
            world.agent(record("send", json!({ "n": n }))).unwrap();
        }
        let steps: Vec<_> =
            world.active().content.steps().iter().map(|step| format!("{} {}", step.id, step.description)).collect();
        assert_eq!(steps, [r#"s1 send({"n":1})"#, r#"s2 send({"n":2})"#, r#"s3 send({"n":3})"#]);
    }

    #[test]
    fn some_calls_cannot_be_steps() {
        let mut world = World::planning(PlanStyle::Collect);
        for (tool, arguments, code, phrase) in [
            ("send", json!([]), RefusalCode::InvalidArgument, "arguments of `send` are not a JSON object"),
            ("send", json!(null), RefusalCode::InvalidArgument, "not a JSON object"),
            ("", json!({}), RefusalCode::InvalidArgument, "1 to 128 characters"),
            (" ", json!({}), RefusalCode::InvalidArgument, "1 to 128 characters"),
            (&"x".repeat(129), json!({}), RefusalCode::InvalidArgument, "1 to 128 characters"),
            ("plan_finalize", json!({}), RefusalCode::PolicyDenied, "is a plan tool"),
            ("plan_unheard_of", json!({}), RefusalCode::PolicyDenied, "is a plan tool"),
        ] {
            refused(world.agent(record(tool, arguments)), code, phrase);
        }
        assert!(world.active().is_empty());
    }

    #[test]
    fn there_are_so_many_steps_and_bytes() {
        let mut world = World::planning(PlanStyle::Collect);
        world.policy.limits.steps = 2;
        world.agent(record_one()).unwrap();
        world.agent(record_one()).unwrap();
        refused(world.agent(record_one()), RefusalCode::LimitExceeded, "3 steps; at most 2");
        world.policy.limits.plan_bytes = 60;
        world.policy.limits.steps = 9;
        refused(world.agent(record_one()), RefusalCode::LimitExceeded, "bytes; at most 60");
    }

    #[test]
    fn nothing_collected_is_cancelled_and_ends_the_mode() {
        let mut world = World::planning(PlanStyle::Collect);
        let events = world.agent(finalize()).unwrap();
        assert_eq!(names(&events), ["plan_cancelled", "plan_mode_disabled"]);
        assert_eq!(world.statuses(), [PlanStatus::Cancelled]);
        assert_eq!(world.only_plan().ending.as_ref().unwrap().reason.as_deref(), Some("nothing was collected"));
        assert!(!world.enabled());
    }

    #[test]
    fn a_summary_is_optional_and_trimmed() {
        for (given, kept) in [(None, None), (Some("  "), None), (Some(" two files \n"), Some("two files"))] {
            let mut world = World::planning(PlanStyle::Collect);
            world.agent(record_one()).unwrap();
            world.agent(Command::Draft(DraftCommand::Finalize { summary: given.map(str::to_owned) })).unwrap();
            let PlanContent::Collect(collected) = &world.active().content else { panic!() };
            assert_eq!(collected.summary.as_deref(), kept);
            assert_eq!((world.active().status, world.active().version), (PlanStatus::Ready, 1));
        }
    }
}

mod draft {
    use super::*;

    #[test]
    fn every_missing_part_is_reported_at_once_with_its_path() {
        let full = || ["/goal", "/assumptions", "/risks", "/verification", "/files", "/steps"].to_vec();
        let check = |world: &mut World, expected: &[&str]| {
            let before = world.snapshot.clone();
            let refusal = refused(world.agent(submit()), RefusalCode::InvalidArgument, "stays a draft");
            let paths: Vec<_> = refusal.problems.iter().map(|problem| problem.path.as_str()).collect();
            assert_eq!(paths, expected);
            assert_eq!(world.snapshot, before);
        };
        let mut world = World::planning(PlanStyle::Build);
        check(&mut world, &full());
        world.agent(metadata(MetadataChange { goal: Some("g".to_owned()), ..MetadataChange::default() })).unwrap();
        check(&mut world, &full()[1..]);
        world.agent(metadata(MetadataChange { files: Some(vec![]), ..complete() })).unwrap();
        check(&mut world, &["/files", "/steps"]);
        world.agent(metadata(complete())).unwrap();
        let refusal = refused(world.agent(submit()), RefusalCode::InvalidArgument, "1 part is missing or wrong");
        assert_eq!(refusal.problems[0].message, "there is no step; use plan_add_step");
        world.agent(add(new_step("Pack"))).unwrap();
        world.agent(submit()).unwrap();
        assert_eq!(world.active().status, PlanStatus::Ready);
    }

    #[test]
    fn an_agent_that_left_the_registry_is_reported() {
        let mut world = World::draft(&["Pack", "Drive"]);
        world.policy.agents = AgentRegistry::new([Specialist::named("writer")]).unwrap();
        let refusal = refused(world.agent(submit()), RefusalCode::UnknownAgent, "2 parts are missing or wrong");
        let paths: Vec<_> = refusal.problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["/steps/0/agent", "/steps/1/agent"]);
    }

    #[test]
    fn steps_go_where_they_are_put() {
        for (position, expected) in [
            (None, ["s1 a", "s2 b", "s3 new"]),
            (Some(1), ["s3 new", "s1 a", "s2 b"]),
            (Some(2), ["s1 a", "s3 new", "s2 b"]),
            (Some(3), ["s1 a", "s2 b", "s3 new"]),
        ] {
            let mut world = World::planning(PlanStyle::Build);
            world.agent(add(new_step("a"))).unwrap();
            world.agent(add(new_step("b"))).unwrap();
            world.agent(add(NewStep { position, ..new_step("new") })).unwrap();
            assert_eq!(order(&world), expected);
        }
    }

    #[test]
    fn a_step_that_does_not_fit_is_refused() {
        let with = |change: fn(&mut NewStep)| {
            let mut step = new_step("c");
            change(&mut step);
            add(step)
        };
        let mut world = World::draft(&["a", "b"]);
        for (command, code, phrase) in [
            (
                with(|step| step.position = Some(0)),
                RefusalCode::InvalidArgument,
                "no position 0; positions go from 1 to 3",
            ),
            (with(|step| step.position = Some(4)), RefusalCode::InvalidArgument, "no position 4"),
            (with(|step| step.position = Some(usize::MAX)), RefusalCode::InvalidArgument, "positions go from 1 to 3"),
            (
                with(|step| step.agent = "nobody".to_owned()),
                RefusalCode::UnknownAgent,
                "`nobody`: there is no such agent; agents are coder",
            ),
            (
                with(|step| step.agent = "planner".to_owned()),
                RefusalCode::UnknownAgent,
                "the planner cannot be given a step",
            ),
            (with(|step| step.agent = String::new()), RefusalCode::UnknownAgent, "there is no such agent"),
            (
                with(|step| step.description = "\n".to_owned()),
                RefusalCode::InvalidArgument,
                "The description is blank.",
            ),
            (
                with(|step| step.description = "x".repeat(16 * 1024 + 1)),
                RefusalCode::LimitExceeded,
                "The description has",
            ),
            (
                with(|step| step.verification = Some(" ".to_owned())),
                RefusalCode::InvalidArgument,
                "The verification is blank.",
            ),
            (with(|step| step.needs = needs(&["s9"])), RefusalCode::NotFound, "needs step s9, which does not exist"),
            (with(|step| step.needs = needs(&["s3"])), RefusalCode::InvalidArgument, "which does not come before it"),
            (
                with(|step| (step.needs, step.position) = (needs(&["s2"]), Some(1))),
                RefusalCode::InvalidArgument,
                "needs step s2, which does not come before it",
            ),
        ] {
            let before = world.snapshot.clone();
            refused(world.agent(command), code, phrase);
            assert_eq!(world.snapshot, before);
        }
    }

    #[test]
    fn a_step_needs_another_once() {
        let mut world = World::draft(&["a"]);
        world.agent(add(NewStep { needs: needs(&["s1", "s1"]), ..new_step("b") })).unwrap();
        assert_eq!(built(&world).steps[1].needs, needs(&["s1"]));
    }

    #[test]
    fn only_what_is_given_changes() {
        let change = |make: fn(&mut StepChange)| {
            let mut change = StepChange::default();
            make(&mut change);
            change
        };
        for (change, expected) in [
            (change(|c| c.description = Some(" Fly ".to_owned())), "s2 Fly coder s1 -"),
            (change(|c| c.agent = Some("tester".to_owned())), "s2 b tester s1 -"),
            (change(|c| c.needs = Some(vec![])), "s2 b coder  -"),
            (change(|c| c.verification = Some("it flew".to_owned())), "s2 b coder s1 it flew"),
        ] {
            let mut world = World::draft(&["a", "b"]);
            world.agent(update("s2", change)).unwrap();
            let step = &built(&world).steps[1];
            let needs: Vec<_> = step.needs.iter().map(StepId::as_str).collect();
            let verification = step.verification.as_deref().unwrap_or("-");
            assert_eq!(
                format!("{} {} {} {} {verification}", step.id, step.description, step.agent, needs.join(",")),
                expected
            );
        }
    }

    #[test]
    fn a_change_that_does_not_fit_is_refused() {
        let position = |n| StepChange { position: Some(n), ..StepChange::default() };
        let agent = |name: &str| StepChange { agent: Some(name.to_owned()), ..StepChange::default() };
        let needing = |ids: &[&str]| StepChange { needs: Some(needs(ids)), ..StepChange::default() };
        let mut world = World::draft(&["a", "b", "c"]);
        for (command, code, phrase) in [
            (update("s2", StepChange::default()), RefusalCode::InvalidArgument, "Nothing was given to change"),
            (update("s9", position(1)), RefusalCode::NotFound, "has no step s9"),
            (update("s2", position(0)), RefusalCode::InvalidArgument, "no position 0"),
            (update("s2", position(4)), RefusalCode::InvalidArgument, "positions go from 1 to 3"),
            (
                update("s2", position(1)),
                RefusalCode::InvalidArgument,
                "s2 needs step s1, which does not come before it",
            ),
            (
                update("s1", position(2)),
                RefusalCode::InvalidArgument,
                "s2 needs step s1, which does not come before it",
            ),
            (update("s1", needing(&["s1"])), RefusalCode::InvalidArgument, "does not come before it"),
            (update("s1", needing(&["s3"])), RefusalCode::InvalidArgument, "does not come before it"),
            (update("s1", needing(&["s7"])), RefusalCode::NotFound, "does not exist"),
            (update("s1", agent("planner")), RefusalCode::UnknownAgent, "the planner cannot be given a step"),
            (remove("s9"), RefusalCode::NotFound, "has no step s9"),
            (remove("s1"), RefusalCode::InvalidArgument, "Step s2 needs step s1; change or remove it first"),
        ] {
            let before = world.snapshot.clone();
            refused(world.agent(command), code, phrase);
            assert_eq!(world.snapshot, before);
        }
    }

    #[test]
    fn steps_move_and_are_removed_and_ids_are_never_used_again() {
        let mut world = World::planning(PlanStyle::Build);
        for text in ["a", "b", "c"] {
            world.agent(add(new_step(text))).unwrap();
        }
        world.agent(update("s3", StepChange { position: Some(1), ..StepChange::default() })).unwrap();
        assert_eq!(order(&world), ["s3 c", "s1 a", "s2 b"]);
        world.agent(update("s3", StepChange { position: Some(3), ..StepChange::default() })).unwrap();
        assert_eq!(order(&world), ["s1 a", "s2 b", "s3 c"]);
        world.agent(remove("s3")).unwrap();
        world.agent(add(new_step("d"))).unwrap();
        assert_eq!(order(&world), ["s1 a", "s2 b", "s4 d"]);
        world.agent(remove("s4")).unwrap();
        world.agent(add(new_step("e"))).unwrap();
        assert_eq!(order(&world), ["s1 a", "s2 b", "s5 e"]);
    }

    #[test]
    fn metadata_is_checked_and_trimmed() {
        let lists = |items: &[&str]| MetadataChange {
            risks: Some(items.iter().map(|item| (*item).to_owned()).collect()),
            ..MetadataChange::default()
        };
        let goal = |goal: &str| MetadataChange { goal: Some(goal.to_owned()), ..MetadataChange::default() };
        let mut world = World::planning(PlanStyle::Build);
        world.policy.limits.steps = 2;
        for (change, code, phrase) in [
            (MetadataChange::default(), RefusalCode::InvalidArgument, "Nothing was given to set"),
            (goal(" "), RefusalCode::InvalidArgument, "The goal is blank."),
            (
                MetadataChange { title: Some(String::new()), ..MetadataChange::default() },
                RefusalCode::InvalidArgument,
                "The title is blank.",
            ),
            (lists(&["a", ""]), RefusalCode::InvalidArgument, "The item of risks is blank."),
            (lists(&["a", "b", "c"]), RefusalCode::LimitExceeded, "The list of risks has 3 items; at most 2"),
        ] {
            refused(world.agent(metadata(change)), code, phrase);
        }
        world.agent(metadata(lists(&[" rain "]))).unwrap();
        assert_eq!(built(&world).risks, ["rain"]);
        world.agent(metadata(goal(" there "))).unwrap();
        assert_eq!((built(&world).goal.as_deref(), built(&world).risks.len()), (Some("there"), 1));
    }

    #[test]
    fn what_is_replaced_does_not_count_twice() {
        let mut world = World::planning(PlanStyle::Build);
        world.policy.limits.plan_bytes = 12;
        let goal = |goal: &str| metadata(MetadataChange { goal: Some(goal.to_owned()), ..MetadataChange::default() });
        world.agent(goal("1234567890")).unwrap();
        world.agent(goal("0987654321")).unwrap();
        refused(world.agent(goal("0123456789abc")), RefusalCode::LimitExceeded, "13 bytes; at most 12");
    }

    #[test]
    fn a_draft_begins_in_the_empty_plan_or_in_a_new_one() {
        let mut world = World::planning(PlanStyle::Build);
        world.agent(create_draft("one")).unwrap();
        assert_eq!(world.statuses(), [PlanStatus::Collecting]);
        world.agent(create_draft("two")).unwrap();
        assert_eq!(world.statuses(), [PlanStatus::Collecting, PlanStatus::Collecting]);
        assert_eq!((world.active().number, built(&world).goal.as_deref()), (2, Some("two")));
        refused(world.agent(create_draft("  ")), RefusalCode::InvalidArgument, "The goal is blank.");
    }

    #[test]
    fn no_draft_takes_the_place_of_a_running_plan() {
        let mut world = World::draft(&["a"]);
        world.agent(submit()).unwrap();
        world.approve(Default::default()).unwrap();
        world.start().unwrap();
        refused(world.agent(create_draft("another")), RefusalCode::WrongStatus, "no other draft can take its place");
    }
}

#[test]
fn there_is_no_drafting_without_plan_mode_or_a_session() {
    for mut world in [World::new(), World::unopened(SESSION)] {
        for command in [
            set("x"),
            record_one(),
            finalize(),
            submit(),
            create_draft("x"),
            metadata(complete()),
            add(new_step("x")),
            remove("s1"),
        ] {
            let before = world.snapshot.clone();
            refused(world.agent(command), RefusalCode::PolicyDenied, "");
            assert_eq!(world.snapshot, before);
        }
    }
}

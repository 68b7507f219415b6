//! Schedules: when they are due, and what becomes of their windows.

use jiff::Timestamp;
use planwright_core::auto::{
    AutoCommand, CronLine, NewSchedule, RunEnd, RunState, RunTrigger, Schedule, ScheduleChange, ScheduleStatus,
    StartTarget, TaskStatus,
};
use planwright_core::event::{AutoEvent, Event};
use planwright_core::ids::ScheduleId;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;

use super::{auto, names, system};
use crate::world::{World, set};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_clock_of_the_zone_decides_also_when_it_is_set() {
    for (expression, zone, after, expected) in [
        ("0 9 * * *", None, "2026-03-01T08:59:00Z", "2026-03-01T09:00:00Z"),
        ("0 9 * * *", None, "2026-03-01T09:00:00Z", "2026-03-02T09:00:00Z"),
        ("0 9 * * 1", Some("Europe/Berlin"), "2026-03-01T08:59:00Z", "2026-03-02T08:00:00Z"),
        // Winter, and summer.
        ("30 6 * * *", Some("Europe/Berlin"), "2026-01-10T00:00:00Z", "2026-01-10T05:30:00Z"),
        ("30 6 * * *", Some("Europe/Berlin"), "2026-07-10T00:00:00Z", "2026-07-10T04:30:00Z"),
        // On 29 March 2026 the clock goes from 02:00 to 03:00: a time that is skipped is due right after the gap.
        ("30 2 * * *", Some("Europe/Berlin"), "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
        ("30 2 * * *", Some("Europe/Berlin"), "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
        // On 25 October 2026 the hour from 02:00 comes twice: it is due the first time only.
        ("30 2 * * *", Some("Europe/Berlin"), "2026-10-24T22:30:00Z", "2026-10-25T00:30:00Z"),
        ("30 2 * * *", Some("Europe/Berlin"), "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        // What comes every quarter of an hour neither pauses nor doubles.
        ("*/15 * * * *", Some("Europe/Berlin"), "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"),
        ("*/15 * * * *", Some("Europe/Berlin"), "2026-03-29T00:45:00Z", "2026-03-29T01:00:00Z"),
    ] {
        let line = CronLine::new(expression, zone, at(after)).unwrap();
        assert_eq!(line.next_after(at(after)).unwrap(), at(expected), "{expression} {zone:?} after {after}");
    }
}

#[test]
fn what_never_comes_due_or_is_no_expression_is_refused() {
    let now = at("2026-03-01T00:00:00Z");
    for (expression, zone) in [
        ("", None),
        ("0 9 * *", None),
        ("0 0 9 * * *", None),
        ("99 9 * * *", None),
        ("0 9 30 2 *", None),
        ("0 9 * * *", Some("Mars/Olympus")),
        ("0 9 * * *", Some("../etc/passwd")),
    ] {
        let refused = CronLine::new(expression, zone, now).unwrap_err();
        assert_eq!(refused.code, RefusalCode::InvalidArgument, "{expression} {zone:?}");
    }
}

fn every_minute(max_executions: Option<u32>) -> AutoCommand {
    AutoCommand::AddSchedule(NewSchedule {
        expression: "* * * * *".to_owned(),
        zone: None,
        title: "Read the news".to_owned(),
        goal: None,
        max_executions,
    })
}

impl World {
    fn scheduled(max_executions: Option<u32>) -> (Self, ScheduleId) {
        let mut world = Self::new();
        world.person(auto(every_minute(max_executions))).unwrap();
        let id = world.schedule().id;
        (world, id)
    }

    fn schedule(&self) -> Schedule {
        self.auto().schedules[0].clone()
    }

    /// Lets the time pass until the schedule is due, and so many minutes more.
    fn wait(&mut self, minutes: u32) -> Timestamp {
        let window = self.schedule().next_at.unwrap();
        let until = window + jiff::SignedDuration::from_mins(i64::from(minutes));
        while self.stamp(system()).at < until {
            self.person(super::add_goal("Time passes")).ok();
            self.person(auto(AutoCommand::WriteDiary { text: "Time passes.".to_owned(), run: None })).unwrap();
        }
        window
    }

    fn fire(&mut self) -> crate::world::Decided {
        let (schedule, window) = (self.schedule().id, self.schedule().next_at.unwrap());
        self.send(system(), auto(AutoCommand::Fire { schedule, window, driver: "here".to_owned() }))
    }

    fn end_run(&mut self, status: TaskStatus) {
        let task = self.schedule().task;
        self.agent(auto(AutoCommand::ChangeTask { task, status, note: None })).unwrap();
    }
}

/// A server that is deployed again leaves its runs; the schedule goes on without a person.
#[test]
fn an_interrupted_run_counts_as_failed_for_its_schedule_and_does_not_block_it() {
    let (mut world, _) = World::scheduled(None);
    world.wait(0);
    world.fire().unwrap();
    let run = world.auto().runs[0].clone();
    let interrupt = auto(AutoCommand::Interrupt { run: run.id().clone() });
    let events = world.send(system(), interrupt).unwrap();
    assert_eq!(names(&events), ["run_interrupted", "schedule_postponed"]);
    let Event::Auto(AutoEvent::SchedulePostponed { failed, reason, .. }) = &events[1] else { panic!("{events:?}") };
    assert_eq!((*failed, reason.as_str()), (true, "the process of its run ended"));
    assert_eq!((world.schedule().failures, world.schedule().executions), (1, 0));
    assert!(world.schedule().next_at.is_some());
    // The run is listed as interrupted until the schedule begins the next one.
    assert!(matches!(world.auto().runs[0].state, RunState::Interrupted { .. }));
    world.wait(0);
    let events = world.fire().unwrap();
    assert_eq!(names(&events), ["schedule_fired", "run_ended", "run_started"]);
    let runs = world.auto().runs;
    assert!(
        matches!(&runs[0].state, RunState::Ended { end: RunEnd::Failed, note: Some(note), .. } if note == "its process ended")
    );
    assert!(matches!(runs[1].state, RunState::Running));
    world.end_run(TaskStatus::Done);
    assert_eq!(world.schedule().failures, 0);
}

#[test]
fn a_due_schedule_starts_one_run_and_a_window_is_taken_once() {
    let (mut world, id) = World::scheduled(None);
    let window = world.schedule().next_at.unwrap();
    let fire = |window| auto(AutoCommand::Fire { schedule: id.clone(), window, driver: "here".to_owned() });
    // Not before it is due, and by no agent or person.
    assert_eq!(world.send(system(), fire(window)).unwrap_err().code, RefusalCode::Conflict);
    world.wait(0);
    assert_eq!(world.agent(fire(window)).unwrap_err().code, RefusalCode::PolicyDenied);
    assert_eq!(world.person(fire(window)).unwrap_err().code, RefusalCode::PolicyDenied);
    let events = world.send(system(), fire(window)).unwrap();
    assert_eq!(names(&events), ["schedule_fired", "run_started"]);
    assert_eq!(world.send(system(), fire(window)).unwrap_err().code, RefusalCode::Conflict);
    let run = world.auto().runs[0].clone();
    assert_eq!(run.trigger, RunTrigger::Schedule { schedule: id });
    assert_eq!(run.context.task_id(), &world.schedule().task);
}

#[test]
fn missed_windows_are_joined() {
    let (mut world, _) = World::scheduled(None);
    world.wait(7);
    let events = world.fire().unwrap();
    let planwright_core::event::Event::Auto(planwright_core::event::AutoEvent::ScheduleFired {
        joined, next_at, ..
    }) = &events[0]
    else {
        panic!("{events:?}")
    };
    assert_eq!(*joined, 7);
    assert!(next_at.unwrap() > world.stamp(system()).at);
    assert_eq!(world.auto().runs.len(), 1);
}

#[test]
fn a_schedule_ends_after_its_last_execution() {
    let (mut world, _) = World::scheduled(Some(2));
    for executions in 1..=2 {
        world.wait(0);
        world.fire().unwrap();
        assert_eq!(world.schedule().executions, executions);
        world.end_run(TaskStatus::Done);
    }
    assert_eq!((world.schedule().status, world.schedule().next_at), (ScheduleStatus::Ended, None));
}

#[test]
fn a_window_that_fails_is_tried_again_later_and_later() {
    let mut world = World::new();
    let daily = AutoCommand::AddSchedule(NewSchedule {
        expression: "0 0 * * *".to_owned(),
        zone: None,
        title: "Read the news".to_owned(),
        goal: None,
        max_executions: Some(1),
    });
    world.person(auto(daily)).unwrap();
    // The day passes.
    let window = world.schedule().next_at.unwrap();
    let mut now = window;
    let send = |world: &mut World, now: Timestamp, command| {
        let mut stamp = world.stamp(system());
        stamp.at = now;
        stamp.request = planwright_core::ids::RequestId::new(format!("later-{}", now.as_second())).unwrap();
        let events = planwright_core::decide(&world.snapshot, &command, &stamp, &world.policy).unwrap();
        events.iter().for_each(|event| world.snapshot.apply(event, &stamp, 0));
        names(&events)
    };
    let mut waits = Vec::new();
    for _ in 0..5 {
        let (schedule, window) = (world.schedule().id, world.schedule().next_at.unwrap());
        let fire = auto(AutoCommand::Fire { schedule, window, driver: "here".to_owned() });
        assert!(send(&mut world, now, fire).contains(&"run_started"));
        let task = world.schedule().task;
        let failed = auto(AutoCommand::ChangeTask { task, status: TaskStatus::Failed, note: None });
        assert_eq!(send(&mut world, now, failed), ["task_changed", "run_ended", "schedule_postponed"]);
        let next = world.schedule().next_at.unwrap();
        waits.push(next.duration_since(now).as_mins());
        assert_eq!(world.schedule().executions, 0, "a window that failed does not count");
        now = next;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16]);
    // It is not tried for ever.
    let (schedule, window) = (world.schedule().id, world.schedule().next_at.unwrap());
    send(&mut world, now, auto(AutoCommand::Fire { schedule, window, driver: "here".to_owned() }));
    let task = world.schedule().task;
    let failed = auto(AutoCommand::ChangeTask { task, status: TaskStatus::Failed, note: None });
    assert_eq!(send(&mut world, now, failed), ["task_changed", "run_ended"]);
}

#[test]
fn a_run_that_fails_again_and_again_is_the_failure_of_its_window() {
    let (mut world, _) = World::scheduled(None);
    world.wait(0);
    world.fire().unwrap();
    let run = world.auto().runs[0].clone();
    for _ in 0..3 {
        let turn = world.begin_tick(&run.context).unwrap();
        world.end_turn(turn, vec![], TurnEnd::ModelFailed { message: "503".to_owned() }).unwrap();
    }
    assert!(matches!(world.state_of(run.id()), RunState::Ended { end: RunEnd::Failed, .. }));
    assert_eq!(world.schedule().failures, 1);
}

#[test]
fn no_run_of_a_schedule_starts_while_something_waits_for_a_person() {
    let mut world = World::planning(PlanStyle::Document);
    world.person(auto(every_minute(None))).unwrap();
    world.agent(set("# Move\n\n1. Pack\n")).unwrap();
    world.wait(0);
    let events = world.fire().unwrap();
    assert_eq!(names(&events), ["schedule_postponed"]);
    assert!(world.auto().runs.is_empty());
    assert!(world.schedule().next_at.is_some());
    // Nor while its last run is still at work.
    let (mut world, _) = World::scheduled(None);
    world.wait(0);
    world.fire().unwrap();
    world.wait(0);
    assert_eq!(names(&world.fire().unwrap()), ["schedule_postponed"]);
    assert_eq!(world.auto().runs.len(), 1);
}

#[test]
fn only_a_person_makes_and_changes_schedules() {
    let mut world = World::new();
    assert_eq!(world.agent(auto(every_minute(None))).unwrap_err().code, RefusalCode::PolicyDenied);
    world.person(auto(every_minute(None))).unwrap();
    let id = world.schedule().id;
    let change = |change| auto(AutoCommand::ChangeSchedule { schedule: id.clone(), change });
    for kind in [ScheduleChange::Pause, ScheduleChange::Resume, ScheduleChange::Delete] {
        assert_eq!(world.agent(change(kind)).unwrap_err().code, RefusalCode::PolicyDenied, "{kind:?}");
    }
    world.person(change(ScheduleChange::Pause)).unwrap();
    assert_eq!((world.schedule().status, world.schedule().next_at), (ScheduleStatus::Paused, None));
    assert_eq!(world.person(change(ScheduleChange::Pause)).unwrap_err().code, RefusalCode::WrongStatus);
    world.person(change(ScheduleChange::Resume)).unwrap();
    assert!(world.schedule().next_at.is_some());
    world.person(change(ScheduleChange::Delete)).unwrap();
    assert!(world.auto().schedules.is_empty());
    // The task of a schedule is not begun by hand without being named.
    let mut world = World::new();
    world.person(auto(every_minute(None))).unwrap();
    let run = world.run(StartTarget::Current);
    assert_ne!(run.context.task_id(), &world.schedule().task);
}

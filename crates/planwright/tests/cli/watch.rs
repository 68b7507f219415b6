//! `plan watch`: a plan is followed that another process carries out.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, Decision, EndedStep, ExecutionCommand, StepOutcome};
use planwright_core::ids::{ExecutionId, StepId};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use serde_json::{Value, json};

use crate::world::{SESSION, World};

const CARRIER: &str = "the process that carries it out";

/// Another process that carries plan 1 out, call by call.
pub(crate) struct Carrier<'a> {
    world: &'a World,
}

impl<'a> Carrier<'a> {
    pub(crate) fn of(world: &'a World) -> Self {
        Self { world }
    }

    fn submits(&self, by: &Actor, command: Command) {
        let session = SESSION.parse().unwrap();
        self.world.with_engine(async |engine| engine.submit(&session, by, command).await.unwrap());
    }

    /// A person resumes the plan, and a process that lives carries it out.
    pub(crate) fn starts(&self) {
        let session = SESSION.parse().unwrap();
        self.world.with_engine(async |engine| {
            let ledger = engine.ledger();
            ledger.acquire_lease(&session, CARRIER, Duration::from_secs(3_600)).await.unwrap().unwrap();
        });
        self.starts_and_dies();
    }

    /// The process ends without another word.
    pub(crate) fn starts_and_dies(&self) {
        let plan = self.world.plan(SESSION, 1).id.clone();
        self.submits(&Actor::person("grace", "web"), Command::Decide(Decision::Resume { plan, after_step: None }));
    }

    fn does(&self, command: impl FnOnce(planwright_core::ids::PlanId, ExecutionId) -> ExecutionCommand) {
        let plan = self.world.plan(SESSION, 1);
        let execution = plan.execution.as_ref().unwrap().id.clone();
        self.submits(&Actor::system("web"), Command::Execution(command(plan.id.clone(), execution)));
    }

    pub(crate) fn begins(&self, step: &str) {
        let step = StepId::new(step).unwrap();
        self.does(|plan, execution| ExecutionCommand::Advance {
            plan,
            execution,
            ended: Vec::new(),
            begun: vec![step],
        });
    }

    pub(crate) fn ends(&self, step: &str, status: StepStatus, note: &str) {
        let step = StepId::new(step).unwrap();
        let outcome = StepOutcome { status, note: Some(note.to_owned()), evidence: None };
        self.does(|plan, execution| ExecutionCommand::Advance {
            plan,
            execution,
            ended: vec![EndedStep {
                step,
                outcome,
                changes: planwright_core::workspace::CallChanges::default(),
                permissions: planwright_core::plan::execution::PermissionCounts::default(),
            }],
            begun: Vec::new(),
        });
    }

    pub(crate) fn does_step(&self, step: &str) {
        self.begins(step);
        self.ends(step, StepStatus::Completed, "fine");
    }

    pub(crate) fn finishes(&self) {
        self.does(|plan, execution| ExecutionCommand::Finish { plan, execution, ended: Vec::new() });
    }
}

/// Three recorded calls that a person approved.
pub(crate) fn approved() -> World {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Collect);
    for file in ["a.txt", "b.txt", "c.txt"] {
        world.agent_calls(SESSION, "write_file", json!({ "path": file, "content": "one" })).unwrap();
    }
    world.agent_calls(SESSION, "plan_finalize", json!({ "summary": "Three files" })).unwrap();
    world.run(&format!("plan approve --digest {}", world.digest())).done();
    world
}

/// The program that watches, and what it said so far.
struct Watch {
    child: Child,
    lines: BufReader<ChildStdout>,
    seen: String,
}

impl Watch {
    fn start(world: &World, expected: &[&str]) -> Self {
        let mut command = world.command();
        command.args(["plan", "watch"]).args(expected).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, seen: String::new() }
    }

    /// Reads until a line has `text` in it, and gives that line.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "{text:?} never came: {}", self.seen);
            self.seen.push_str(&line);
            if line.contains(text) {
                return line;
            }
        }
    }

    #[track_caller]
    fn ends(mut self, code: i32) -> String {
        self.lines.read_to_string(&mut self.seen).unwrap();
        let ended = self.child.wait_with_output().unwrap();
        let complaint = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}\n{complaint}", self.seen);
        assert_eq!(complaint, "");
        self.seen
    }
}

#[test]
fn a_plan_is_followed_from_its_approval_to_its_end() {
    let world = approved();
    let carrier = Carrier::of(&world);
    let mut watch = Watch::start(&world, &[]);
    watch.until("Plan 1  APPROVED  Three files");
    watch.until("waiting: it is approved and has not begun");
    carrier.starts();
    watch.until("Execution 1 begun by grace through web: 3 steps.");
    carrier.begins("s1");
    watch.until("◐ 1/3  write_file");
    carrier.ends("s1", StepStatus::Completed, "a long answer");
    let line = watch.until("✔ 1/3  write_file");
    assert!(line.contains("a.txt") && line.contains("done after ") && !line.contains("long answer"), "{line}");
    carrier.does_step("s2");
    carrier.does_step("s3");
    carrier.finishes();
    let seen = watch.ends(0);
    for position in 1..=3 {
        for mark in ["◐", "✔"] {
            assert_eq!(seen.matches(&format!("{mark} {position}/3")).count(), 1, "{seen}");
        }
    }
    assert!(seen.contains("Plan 1  COMPLETED  Three files") && seen.contains("Execution 1: 3 done, in "), "{seen}");
    assert!(!seen.contains('\u{1b}') && !seen.contains('\r'), "a pipe gets plain lines: {seen:?}");
}

#[test]
fn what_did_not_go_well_is_told_with_its_note_and_is_no_success() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    carrier.does_step("s1");
    carrier.begins("s2");
    let mut watch = Watch::start(&world, &["1"]);
    watch.until("Execution 1, begun just now");
    watch.until("✔ 1/3");
    watch.until("◐ 2/3");
    carrier.ends("s2", StepStatus::Failed, "no \u{1b}[2J room");
    let line = watch.until("✘ 2/3");
    assert!(line.contains("failed after ") && line.contains(": no ⟦U+001B⟧[2J room"), "{line}");
    carrier.finishes();
    let seen = watch.ends(3);
    assert!(seen.contains("PARTIALLY_COMPLETED") && seen.contains("1 done, 1 failed, 1 not begun"), "{seen}");
    assert_eq!(seen.matches("✔ 1/3").count(), 1, "{seen}");
}

#[test]
fn executions_one_after_another_are_told_apart() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    carrier.does_step("s1");
    let mut first = Watch::start(&world, &["--json"]);
    first.until("watching");
    // Between two looks the first execution ends and the second one begins.
    carrier.finishes();
    carrier.starts();
    carrier.does_step("s2");
    let seen = first.ends(3);
    let told: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = told.last().unwrap();
    assert_eq!((&summary["type"], &summary["execution"]), (&json!("summary"), &json!(1)), "{seen}");
    assert_eq!(summary["counts"]["done"], 1, "{seen}");
    assert_eq!(summary["status"], "PARTIALLY_COMPLETED", "{seen}");
    assert!(told.iter().all(|one| one["type"] == "watching" || one["execution"] == 1), "{seen}");

    let mut second = Watch::start(&world, &[]);
    second.until("Execution 2, begun just now");
    carrier.does_step("s3");
    carrier.finishes();
    let seen = second.ends(0);
    assert!(seen.contains("Execution 2: 3 done") && !seen.contains("Execution 1"), "{seen}");
}

#[test]
fn programs_get_one_object_per_event_each_once_and_in_order() {
    let world = approved();
    let carrier = Carrier::of(&world);
    let mut watch = Watch::start(&world, &["--json"]);
    watch.until("watching");
    carrier.starts();
    carrier.does_step("s1");
    carrier.begins("s2");
    carrier.ends("s2", StepStatus::Failed, "no room");
    carrier.finishes();
    let seen = watch.ends(3);
    let told: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = told.iter().map(|one| one["type"].as_str().unwrap()).collect();
    let steps = ["step_begun", "step_ended"].repeat(2);
    assert_eq!(
        kinds,
        [&["watching", "execution_started"], steps.as_slice(), &["execution_finished", "summary"]].concat()
    );
    let numbers: Vec<_> = told.iter().filter_map(|one| one["seq"].as_u64()).collect();
    assert!(numbers.is_sorted() && numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
    let failed = &told[5];
    assert_eq!((&failed["step"]["position"], &failed["step"]["total"]), (&json!(2), &json!(3)), "{failed}");
    assert_eq!((&failed["step"]["status"], &failed["note"]), (&json!("FAILED"), &json!("no room")), "{failed}");
    assert!(failed["tookMs"].is_u64() && failed["by"]["kind"] == "system", "{failed}");
    let summary = told.last().unwrap();
    assert_eq!(
        summary["counts"],
        json!({ "total": 3, "done": 1, "failed": 1, "skipped": 0, "uncertain": 0, "inProgress": 0, "notBegun": 1 })
    );
}

#[test]
fn a_cancelled_and_a_superseded_plan_end_the_watch() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    carrier.does_step("s1");
    let mut watch = Watch::start(&world, &[]);
    watch.until("✔ 1/3");
    world.run("plan cancel 1 -- not today").done();
    let seen = watch.ends(3);
    assert!(seen.contains("Cancelled by ada through cli: not today"), "{seen}");
    assert!(seen.contains("Plan 1  CANCELLED") && seen.contains("1 done, 2 not begun"), "{seen}");

    let world = approved();
    let mut watch = Watch::start(&world, &[]);
    watch.until("waiting");
    world.run("plan revise 1 -- use a view").done();
    let seen = watch.ends(3);
    assert!(seen.contains("took its place") && seen.contains("Plan 1  SUPERSEDED"), "{seen}");
    assert!(seen.contains("It was not carried out."), "{seen}");
}

#[test]
fn what_is_over_or_is_not_waited_for_is_told_at_once() {
    let world = approved();
    let ran = world.run("plan watch --no-wait").exits(3).says("Plan 1  APPROVED").says("It was not carried out.");
    assert_eq!(ran.stderr, "");
    world.run("plan resume 1").done();
    world.run("plan watch 1").done().says("✔ 3/3").says("Plan 1  COMPLETED").says("Execution 1: 3 done");
    world.run("plan watch 1 --no-wait --json").done().says("\"type\":\"summary\"");
}

#[test]
fn an_uncertain_step_is_said_to_wait_for_a_person() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    let mut watch = Watch::start(&world, &[]);
    watch.until("Execution 1");
    carrier.begins("s1");
    carrier.ends("s1", StepStatus::Uncertain, "the line broke");
    let line = watch.until("? 1/3");
    assert!(line.contains("uncertain after"), "{line}");
    watch.until("The result of step 1 is unknown, and no step after it begins.");
    carrier.finishes();
    let seen = watch.ends(3);
    assert!(seen.contains("0 done, 1 uncertain, 2 not begun"), "{seen}");
}

#[test]
fn without_a_name_the_active_plan_else_the_one_that_is_carried_out() {
    let world = approved();
    Carrier::of(&world).starts();
    world.run("plan off").done();
    let mut watch = Watch::start(&world, &[]);
    watch.until("Plan 1  EXECUTING");
    world.run("plan cancel 1").done();
    watch.ends(3);
    world
        .run("plan watch")
        .exits(4)
        .complains("No plan is active in session mcp:session-one and none is being carried out; name one by its number")
        .complains("planwright plan list");
    world.run("plan watch 7").exits(4).complains("There is no plan `7`");
    let error = world.run("plan watch --json").exits(4).error_json();
    assert_eq!(error["code"], "NOT_FOUND");
}

#[test]
fn a_session_that_is_deleted_ends_the_watch() {
    let world = approved();
    let mut watch = Watch::start(&world, &[]);
    watch.until("waiting");
    world.run(&format!("sessions delete {SESSION} --yes")).done();
    watch.lines.read_to_string(&mut watch.seen).unwrap();
    let ended = watch.child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(4));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("no session mcp:session-one any more"));
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use super::{Carrier, StepStatus, approved};
    use crate::terminal::Terminal;

    #[test]
    fn the_step_under_way_is_drawn_with_its_time_and_then_written_once() {
        let world = approved();
        let carrier = Carrier::of(&world);
        let mut terminal = Terminal::start(&world, "plan watch");
        terminal.wait_for("waiting: it is approved and has not begun");
        carrier.starts();
        carrier.begins("s1");
        terminal.wait_for("1/3");
        terminal.wait_for("1s");
        carrier.ends("s1", StepStatus::Completed, "fine");
        terminal.wait_for("done after 1.");
        carrier.does_step("s2");
        carrier.does_step("s3");
        carrier.finishes();
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{seen}");
        assert!(seen.contains("\r\u{1b}[J") && seen.contains("COMPLETED"), "{seen:?}");
        assert!(seen.contains("0 of 3 done"), "the steps are a checklist: {seen:?}");
    }

    #[test]
    fn ctrl_c_leaves_and_changes_nothing() {
        let world = approved();
        Carrier::of(&world).starts();
        let before = world.json("plan history 1")["items"].as_array().unwrap().len();
        // A shell in between would answer for the program.
        let line = format!("exec {} plan watch", env!("CARGO_BIN_EXE_planwright"));
        let mut terminal = Terminal::start_with(&world, &line, &[]);
        terminal.wait_for("between two steps");
        terminal.type_in("\u{3}");
        let (seen, code) = terminal.end();
        assert_eq!(code, 3, "{seen}");
        assert!(seen.contains("Plan 1 is no longer watched; its execution is not changed."), "{seen:?}");
        assert_eq!(world.status(), "EXECUTING");
        assert_eq!(world.json("plan history 1")["items"].as_array().unwrap().len(), before);
    }
}

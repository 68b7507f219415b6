//! Runs many seeds. One that fails is cut to as few acts as still fail, and told with the command that repeats it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::checks::Tally;
use crate::run::{Script, run};
use crate::sabotage::Sabotage;

/// How many acts a run has.
pub(crate) const ACTS: u64 = 60;
/// The seeds that are run without a time limit: so many, and some that found something once.
const A_FEW: u64 = 56;
const FOUND: [u64; 6] = [97, 216, 373, 425, 504, 704];

/// What has to happen at least once in a few runs, for them to be about something.
const REACHED: [&str; 37] = [
    "process died",
    "session taken over",
    "session deleted",
    "file written",
    "turn_resumed",
    "turn_begun for a document",
    "turn_begun for a step",
    "turn_begun for a question",
    "turn_ended answered",
    "turn_ended stopped",
    "turn_ended plan_ready",
    "turn_ended interrupted",
    "turn_ended model_failed",
    "tool_ended Uncertain",
    "tool_ended TimedOut",
    "tool_ended Planned",
    "plan_approved",
    "plan_approved by a rule",
    "plan_approved in part",
    "plan_cancelled",
    "plan_superseded",
    "compacted",
    "step_ended COMPLETED",
    "step_ended FAILED",
    "step_ended SKIPPED",
    "step_ended PENDING",
    "step_ended UNCERTAIN",
    "execution_finished COMPLETED",
    "execution_finished PARTIALLY_COMPLETED",
    "turn_begun for a tick",
    "run_started",
    "run_moved",
    "run_paused",
    "run_ended",
    "schedule_fired",
    "memory_saved",
    "memory_promoted",
];

/// Runs that went wrong.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) script: Script,
    pub(crate) wrong: Vec<String>,
}

/// One seed if one is named, else as many as the time allows, else a few that are always the same.
pub(crate) fn hunt() {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let seconds = variable("PLANWRIGHT_SIMULATE_SECONDS").and_then(|text| text.parse().ok());
    if let Some(seed) = variable("PLANWRIGHT_SIMULATE_SEED") {
        let seed = seed.parse().expect("a seed is a number");
        let acts = variable("PLANWRIGHT_SIMULATE_ACTS");
        let acts = acts.map(|acts| acts.split(',').map(|act| act.parse().expect("acts are numbers")).collect());
        return replay(&Script { seed, acts: acts.unwrap_or_else(|| (0..ACTS).collect()), sabotage: None });
    }
    if let Some(seconds) = seconds {
        return for_a_while(Duration::from_secs(seconds));
    }
    let mut tally = Tally::new();
    for seed in (1..=A_FEW).chain(FOUND) {
        one(seed, &mut tally);
    }
    println!("{tally:#?}");
    for reached in REACHED {
        assert!(tally.contains_key(reached), "nothing of this happened: {reached}");
    }
}

fn for_a_while(time: Duration) {
    let begun = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (mut seed, mut tally) = (now * 1_000_000, Tally::new());
    let first = seed;
    while begun.elapsed() < time {
        seed += 1;
        one(seed, &mut tally);
    }
    println!("{} seeds from {} on, nothing is wrong\n{tally:#?}", seed - first, first + 1);
}

/// Everything that happens, and whether something is wrong.
fn replay(script: &Script) {
    let report = run(script);
    report.trace.iter().for_each(|line| println!("{line}"));
    assert!(report.wrong.is_empty(), "seed {}: {:#?}", script.seed, report.wrong);
}

fn one(seed: u64, tally: &mut Tally) {
    let script = Script { seed, acts: (0..ACTS).collect(), sabotage: None };
    let report = run(&script);
    for (what, times) in report.tally {
        *tally.entry(what).or_default() += times;
    }
    if report.wrong.is_empty() {
        return;
    }
    let Found { script, wrong } = shorten(Found { script, wrong: report.wrong.clone() });
    let acts: Vec<_> = script.acts.iter().map(u64::to_string).collect();
    panic!(
        "seed {seed} goes wrong:\n{:#?}\nto repeat it: make simulate SEED={seed}\nwith fewer acts:\n{wrong:#?}\n\
         to repeat that: make simulate SEED={seed} ACTS={}",
        report.wrong,
        acts.join(",")
    );
}

/// The first of these seeds that goes wrong with the sabotage, and does not without.
pub(crate) fn find(seeds: impl IntoIterator<Item = u64>, sabotage: Sabotage) -> Option<Found> {
    let whole = |seed, sabotage| Script { seed, acts: (0..ACTS).collect(), sabotage };
    let mut found = seeds.into_iter().filter_map(|seed| goes_wrong(whole(seed, Some(sabotage))));
    found.find(|found| goes_wrong(whole(found.script.seed, None)).is_none())
}

fn goes_wrong(script: Script) -> Option<Found> {
    let wrong = run(&script).wrong;
    (!wrong.is_empty()).then_some(Found { script, wrong })
}

/// Shortens a found script to as few acts as still go wrong: whole pieces are left out first, then smaller ones.
fn shorten(mut found: Found) -> Found {
    let mut piece = found.script.acts.len() / 2;
    while piece > 0 {
        let mut from = 0;
        while from < found.script.acts.len() {
            let mut shorter = found.script.clone();
            shorter.acts.drain(from..(from + piece).min(shorter.acts.len()));
            match goes_wrong(shorter) {
                Some(still) => found = still,
                None => from += piece,
            }
        }
        piece /= 2;
    }
    found
}

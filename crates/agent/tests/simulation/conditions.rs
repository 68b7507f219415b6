//! The conditions of a simulation: how often things go wrong in it, and by which rules the agent plays.

use std::time::Duration;

use planwright_core::auto::{AutoPolicy, Budget};
use planwright_core::plan::PlanStyle;
use planwright_core::policy::{DocumentTools, OnFailure, Policy, StandingApproval};
use planwright_core::turn::TurnLimits;

use crate::random::Dice;

#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    /// Whether people mostly have plans made and carried out, rather than talk.
    pub(crate) carries_out: bool,
    /// The style in which they mostly do.
    pub(crate) style: PlanStyle,
    pub(crate) sessions: u64,
    pub(crate) processes: u64,
    /// How often a process dies at an operation of the store, a call of the model or of a tool, out of a thousand.
    pub(crate) deaths: u64,
    /// How often the store says that it is away, out of a thousand.
    pub(crate) outages: u64,
    /// Whether a lease may run out while its holder lives: processes fall asleep and clocks jump.
    pub(crate) leases_get_lost: bool,
    /// The longest that an operation of the store usually takes.
    pub(crate) latency: Duration,
    pub(crate) lease: Duration,
    /// Whether processes find out that another one has died, as they do on one machine.
    pub(crate) deaths_are_seen: bool,
    pub(crate) context_tokens: u32,
    /// Whether people set goals and tasks, start runs and have things remembered.
    pub(crate) works_alone: bool,
    /// The longest that people wait between two acts.
    pub(crate) max_pause: Duration,
    pub(crate) policy: Policy,
}

impl Conditions {
    pub(crate) fn of(dice: Dice) -> Self {
        let mut random = dice.on(format_args!("temper"));
        let leases_get_lost = random.per_mille(600);
        let carries_out = random.coin();
        let policy = Policy {
            document_tools: random.pick(&[DocumentTools::All, DocumentTools::ReadOnly]),
            on_failure: random.pick(&[OnFailure::Stop, OnFailure::GoOn]),
            standing_approval: random.pick(&[StandingApproval::Off, StandingApproval::Off, StandingApproval::ReadOnly]),
            turn: TurnLimits {
                model_calls: random.pick(&[4, 8, 12]),
                tool_calls: random.pick(&[3, 12, 20]),
                time: Duration::from_secs(random.pick(&[40, 120, 600])),
                tool_time: Duration::from_secs(random.pick(&[3, 10])),
                resumptions: random.pick(&[0, 1, 3]),
                ..TurnLimits::default()
            },
            auto: AutoPolicy { run: Budget { turns: Some(4), ..Budget::default() }, ..AutoPolicy::default() },
            ..Policy::default()
        };
        Self {
            carries_out,
            style: random.pick(&PlanStyle::ALL),
            sessions: 1 + random.below(if carries_out { 2 } else { 4 }),
            processes: 1 + random.below(3),
            deaths: random.pick(&[0, 2, 6, 15, 40]),
            outages: random.pick(&[0, 0, 0, 3, 10]),
            leases_get_lost,
            latency: Duration::from_millis(random.pick(&[5, 40, 200])),
            // No third of it is a whole second, so that it is not renewed at the very moment a check looks.
            lease: Duration::from_millis(random.pick(&[2_500, 5_000, 15_500])),
            deaths_are_seen: random.coin(),
            context_tokens: random.pick(&[7_000, 12_000, 200_000]),
            // Every fourth seed, so that the others stay what they are known for.
            works_alone: dice.is_of_every(4),
            max_pause: Duration::from_millis(random.pick(&[300, 2_000, 8_000])),
            policy,
        }
    }
}

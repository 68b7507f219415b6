//! What is said in the tests: the commands of a conversation, and random conversations that go through the real rules.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::compaction::cut;
use planwright_core::conversation::{Compaction, Conversation, CountTokens, Summarizer, reply_tokens};
use planwright_core::decide;
use planwright_core::event::{Event, SessionEvent};
use planwright_core::ids::{RequestId, TurnId};
use planwright_core::journal::Entry;
use planwright_core::model::{ModelMessage, ModelReply, ToolCall, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_core::session::Session;
use planwright_core::snapshot::{CommandContext, Snapshot};
use planwright_core::turn::{Purpose, ShownPlan, ToolOutcome, ToolStatus, TurnEnd, TurnEnding, TurnInput, TurnLimit};
use planwright_core::workspace::CallChanges;
use proptest::prelude::*;

use crate::world::*;

/// Ways to count that differ as much as tokenizers do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Measure {
    Bytes,
    FourBytes,
    Words,
}

impl Measure {
    pub(crate) const ALL: [Self; 3] = [Self::Bytes, Self::FourBytes, Self::Words];
}

impl CountTokens for Measure {
    fn count(&self, text: &str) -> u32 {
        let count = match self {
            Self::Bytes => text.len(),
            Self::FourBytes => text.len().div_ceil(4),
            Self::Words => text.split_whitespace().count(),
        };
        u32::try_from(count).unwrap()
    }
}

pub(crate) fn say(text: &str) -> Command {
    Command::Turn(TurnCommand::Begin {
        text: text.to_owned(),
        tokens: Measure::Bytes.count(text),
        purpose: Purpose::Answer,
    })
}

pub(crate) fn resume_turn(turn: &TurnId) -> Command {
    Command::Turn(TurnCommand::Resume { turn: turn.clone() })
}

pub(crate) fn tell(turn: &TurnId, inputs: &[TurnInput]) -> Command {
    Command::Turn(TurnCommand::Record { turn: turn.clone(), inputs: inputs.to_vec(), ending: None })
}

pub(crate) fn close(turn: &TurnId, inputs: &[TurnInput], ending: impl Into<TurnEnding>) -> Command {
    let (turn, inputs, ending) = (turn.clone(), inputs.to_vec(), Some(ending.into()));
    Command::Turn(TurnCommand::Record { turn, inputs, ending })
}

pub(crate) fn stop() -> Command {
    Command::Turn(TurnCommand::Stop)
}

pub(crate) fn compact(compaction: Compaction) -> Command {
    Command::Turn(TurnCommand::Compact(compaction))
}

pub(crate) fn show(shown: &ShownPlan) -> Command {
    Command::Turn(TurnCommand::Show(shown.clone()))
}

pub(crate) fn compaction(kept_from: u64, pinned: Option<u64>) -> Compaction {
    let summary = format!("all before {kept_from}");
    let tokens = Measure::Bytes.count(&summary);
    Compaction { kept_from, pinned, summary, tokens, by: Summarizer::Rules, messages: 1, run: None }
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments: arguments.to_owned(), signatures: Vec::new() }
}

pub(crate) fn reply(text: &str, calls: &[ToolCall]) -> ModelReply {
    ModelReply { text: text.to_owned(), calls: calls.to_vec(), usage: Usage::default(), cut_off: false }
}

pub(crate) fn replied(reply: ModelReply, measure: Measure) -> TurnInput {
    TurnInput::Replied { tokens: reply_tokens(&reply, &measure), reply }
}

/// The model calls these tools, without arguments.
pub(crate) fn calls(names: &[&str]) -> TurnInput {
    let calls: Vec<_> = names.iter().map(|name| call(name, "{}")).collect();
    replied(reply("", &calls), Measure::Bytes)
}

pub(crate) fn answers(text: &str) -> TurnInput {
    replied(reply(text, &[]), Measure::Bytes)
}

pub(crate) fn came_to(number: u32, status: ToolStatus, text: &str) -> TurnInput {
    let outcome = ToolOutcome { status, text: text.to_owned() };
    TurnInput::ToolEnded {
        call: number,
        outcome,
        tokens: Measure::Bytes.count(text),
        changes: CallChanges::default(),
        permissions: PermissionCounts::default(),
    }
}

pub(crate) fn done_with(number: u32) -> TurnInput {
    came_to(number, ToolStatus::Done, "ok")
}

impl World {
    /// A session in which a person has just said something.
    pub(crate) fn talking() -> Self {
        let mut world = Self::new();
        world.person(say("hello")).unwrap();
        world
    }

    /// The turn that is under way.
    pub(crate) fn turn(&self) -> TurnId {
        self.snapshot.session.as_ref().unwrap().turn.as_ref().expect("no turn is open").id.clone()
    }

    /// What the journal says, read from its text.
    pub(crate) fn entries(&self) -> Vec<(u64, Event)> {
        let entry = |body: &str| serde_json::from_str::<Entry>(body).unwrap();
        self.journal.iter().map(|sealed| (sealed.seq, entry(&sealed.body).event)).collect()
    }

    pub(crate) fn conversation(&self) -> Conversation {
        self.conversation_from(0)
    }

    pub(crate) fn conversation_from(&self, from: u64) -> Conversation {
        let entries = self.entries();
        Conversation::replay(entries.iter().filter(|(seq, _)| *seq >= from).map(|(seq, event)| (*seq, event)))
    }

    pub(crate) fn history_from(&self) -> u64 {
        self.snapshot.session.as_ref().unwrap().history_from
    }

    /// Has the conversation compacted by rules, if there is something to compact.
    pub(crate) fn compact(&mut self, keep: u32, measure: Measure) -> bool {
        let conversation = self.conversation();
        let Some(cut) = cut(&conversation, keep) else { return false };
        let summary = cut.rules_summary(&conversation);
        let tokens = measure.count(&summary);
        self.agent(compact(cut.compaction(&conversation, summary, tokens, Summarizer::Rules))).unwrap();
        true
    }
}

/// What every provider asks of a conversation.
pub(crate) fn check_sendable(messages: &[ModelMessage]) -> Result<(), TestCaseError> {
    let mut ids = std::collections::BTreeSet::new();
    let mut waiting = std::collections::VecDeque::new();
    for (index, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::User { text } => {
                prop_assert!(!text.trim().is_empty(), "message {} is blank", index);
                prop_assert!(waiting.is_empty(), "message {} comes before every call has its result", index);
            }
            ModelMessage::Assistant { text, calls } => {
                prop_assert!(index > 0, "it begins with an answer");
                prop_assert!(!text.trim().is_empty() || !calls.is_empty(), "answer {} is blank", index);
                prop_assert!(waiting.is_empty(), "message {} comes before every call has its result", index);
                for sent in calls {
                    prop_assert!(ids.insert(&sent.id), "{} is used twice", sent.id);
                    waiting.push_back((&sent.id, &sent.call.name));
                }
            }
            ModelMessage::ToolResult { id, name, .. } => {
                prop_assert_eq!(waiting.pop_front(), Some((id, name)), "result {} has no call", index);
            }
        }
    }
    prop_assert!(waiting.is_empty(), "a call has no result");
    Ok(())
}

/// One thing that happens in a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    Say(String),
    Reply(String, Vec<(String, String)>),
    Outcome(ToolStatus, String),
    End(TurnEnd, String),
    Stop,
    Resume,
    Reset,
    Plan,
    Compact(u32),
    /// A summary that was begun some entries ago and comes now.
    CompactLate(usize, u32),
}

/// A session in which random things happen. It keeps its entries as they are, without a journal's text and hashes.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) entries: Vec<(u64, Event)>,
    /// What was taken in entry by entry.
    pub(crate) conversation: Conversation,
    snapshot: Snapshot,
    measure: Measure,
    requests: u32,
}

impl Talk {
    pub(crate) fn new(measure: Measure) -> Self {
        let mut snapshot = Snapshot::new(SESSION.parse().unwrap());
        snapshot.apply(&Event::Session(SessionEvent::Opened), &stamp(0), 1);
        let session = snapshot.opened().unwrap().clone();
        let entries = vec![(1, Event::Session(SessionEvent::Opened))];
        Self { session, entries, conversation: Conversation::default(), snapshot, measure, requests: 0 }
    }

    pub(crate) fn after(moves: &[Move], measure: Measure) -> Self {
        let mut talk = Self::new(measure);
        moves.iter().for_each(|step| talk.happen(step));
        talk
    }

    /// The conversation as it is read from the entries from `from` on, the first `count` of them.
    pub(crate) fn replayed(&self, from: u64, count: usize) -> Conversation {
        let entries = self.entries.iter().take(count).filter(|(seq, _)| *seq >= from);
        Conversation::replay(entries.map(|(seq, event)| (*seq, event)))
    }

    /// What does not fit is refused, and then nothing happens.
    pub(crate) fn happen(&mut self, step: &Move) {
        let open = self.session.turn.as_ref();
        let turn = open.map_or_else(|| TurnId::new("none").unwrap(), |open| open.id.clone());
        let count = |text: &str| self.measure.count(text);
        let command = match step {
            Move::Say(text) => {
                Command::Turn(TurnCommand::Begin { text: text.clone(), tokens: count(text), purpose: Purpose::Answer })
            }
            Move::Reply(text, calls) => {
                let calls: Vec<_> = calls.iter().map(|(name, arguments)| call(name, arguments)).collect();
                tell(&turn, &[replied(reply(text, &calls), self.measure)])
            }
            Move::Outcome(status, text) => {
                let call = open.map_or(1, |open| open.ended + 1);
                let outcome = ToolOutcome { status: *status, text: text.clone() };
                tell(
                    &turn,
                    &[TurnInput::ToolEnded {
                        call,
                        outcome,
                        tokens: count(text),
                        changes: CallChanges::default(),
                        permissions: PermissionCounts::default(),
                    }],
                )
            }
            Move::End(end, text) => {
                close(&turn, &[], TurnEnding { text: text.clone(), tokens: count(text.trim()), ..end.clone().into() })
            }
            Move::Stop => stop(),
            Move::Resume => resume_turn(&turn),
            Move::Reset => reset(),
            Move::Plan => on(PlanStyle::Document),
            Move::Compact(keep) => {
                self.compact(*keep);
                return;
            }
            Move::CompactLate(late, keep) => {
                let conversation = self.replayed(0, self.entries.len().saturating_sub(*late));
                let Some(cut) = cut(&conversation, *keep) else { return };
                compact(cut.compaction(&conversation, "late".to_owned(), count("late"), Summarizer::Model))
            }
        };
        let _ = self.send(&command);
    }

    /// Has the conversation compacted by rules, if there is something to compact. That is never refused.
    pub(crate) fn compact(&mut self, keep: u32) -> bool {
        let Some(cut) = cut(&self.conversation, keep) else { return false };
        let summary = cut.rules_summary(&self.conversation);
        let tokens = self.measure.count(&summary);
        let command = compact(cut.compaction(&self.conversation, summary, tokens, Summarizer::Rules));
        self.send(&command).unwrap();
        true
    }

    fn send(&mut self, command: &Command) -> Result<(), Refusal> {
        self.requests += 1;
        let stamp = stamp(self.requests);
        for event in decide(&self.snapshot, command, &stamp, &Policy::default())? {
            let seq = self.entries.len() as u64 + 1;
            self.snapshot.apply(&event, &stamp, seq);
            self.conversation.apply(seq, &event);
            self.entries.push((seq, event));
        }
        self.session = self.snapshot.opened().unwrap().clone();
        Ok(())
    }
}

fn stamp(request: u32) -> CommandContext {
    let request = RequestId::new(format!("request-{request}")).unwrap();
    CommandContext { at: jiff::Timestamp::UNIX_EPOCH, by: Actor::person("ada", "cli"), request }
}

/// Words of every kind and length, also none.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "two words ",
        "żółć",
        "漢字",
        "👩‍👩‍👧",
        "\n",
        " ",
        "\"",
        "{\"a\":",
        "\u{202e}",
        "[Planned]",
        "\r\n\t",
    ]);
    let times = prop_oneof![4 => 1..4_usize, 3 => 1..60_usize, 1 => 1..800_usize];
    let repeated = (piece, times).prop_map(|(piece, times)| piece.repeat(times));
    prop_oneof![
        1 => Just(String::new()),
        3 => Just("some plain words".to_owned()),
        6 => prop::collection::vec(repeated, 1..4).prop_map(|pieces| pieces.concat()),
    ]
}

pub(crate) fn any_status() -> impl Strategy<Value = ToolStatus> {
    use ToolStatus::{Done, Failed, Planned, Refused, Settled, TimedOut, Uncertain};
    prop_oneof![
        6 => Just(Done),
        2 => prop::sample::select(vec![Planned, Refused, Failed, TimedOut, Uncertain]),
        1 => Just(Settled),
    ]
}

fn any_end() -> impl Strategy<Value = TurnEnd> {
    let other = vec![
        TurnEnd::Stopped,
        TurnEnd::LimitReached { limit: TurnLimit::Tokens },
        TurnEnd::Looping,
        TurnEnd::NoAnswer,
        TurnEnd::ModelFailed { message: "gone".to_owned() },
        TurnEnd::Interrupted,
    ];
    prop_oneof![2 => Just(TurnEnd::Answered), 2 => prop::sample::select(other)]
}

pub(crate) fn any_move() -> impl Strategy<Value = Move> {
    let name = prop::sample::select(vec!["read_file", "plan_get", "x", "a_tool_with_a_rather_long_name"]);
    let calls = prop::collection::vec((name.prop_map(str::to_owned), any_text()), 0..4);
    prop_oneof![
        8 => any_text().prop_map(Move::Say),
        8 => (any_text(), calls).prop_map(|(text, calls)| Move::Reply(text, calls)),
        12 => (any_status(), any_text()).prop_map(|(status, text)| Move::Outcome(status, text)),
        4 => (any_end(), any_text()).prop_map(|(end, text)| Move::End(end, text)),
        1 => Just(Move::Stop),
        1 => Just(Move::Resume),
        1 => Just(Move::Reset),
        1 => Just(Move::Plan),
    ]
}

/// Moves among which the conversation is compacted too.
pub(crate) fn any_move_or_compaction() -> impl Strategy<Value = Move> {
    prop_oneof![
        10 => any_move(),
        2 => (0..2_000_u32).prop_map(Move::Compact),
        1 => (0..8_usize, 0..2_000_u32).prop_map(|(late, keep)| Move::CompactLate(late, keep)),
    ]
}

//! What everything in a run shares: the dice, the clock, and a record of what happened that the store knows nothing of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_test_support::clock::TestClock;
use serde_json::Value;

use crate::conditions::Conditions;
use crate::random::{Dice, Random};
use crate::sabotage::Sabotage;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) dice: Dice,
    pub(crate) conditions: Conditions,
    pub(crate) sabotage: Option<Sabotage>,
    pub(crate) clock: TestClock,
    /// Nothing goes wrong any more.
    pub(crate) calm: AtomicBool,
    occasions: Mutex<BTreeMap<String, u64>>,
    numbers: AtomicU64,
    /// The numbers of what was said and called by specialists, apart from the conversation.
    apart: Mutex<BTreeSet<u64>>,
    record: Mutex<Vec<(u64, Occurrence)>>,
    wrong: Mutex<Vec<String>>,
}

/// Whom a model plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The agent in the conversation with the person.
    Agent,
    /// A specialist who does a step of a plan.
    Doing,
    /// A specialist who is asked.
    Asked,
    /// Summarises the conversation.
    Summarizer,
}

/// Something that happened.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "it is read in the trace of a run")]
pub(crate) enum Occurrence {
    /// People and fate.
    Act(String),
    Answered(String),
    Started {
        owner: String,
    },
    Died {
        owner: String,
    },
    /// The store wrote these entries of a session's journal for a process, under a lease or not.
    Wrote {
        owner: String,
        session: SessionIdentity,
        first: u64,
        last: u64,
        under: Option<u64>,
    },
    Took {
        owner: String,
        session: SessionIdentity,
        fence: u64,
    },
    Released {
        owner: String,
        session: SessionIdentity,
        fence: u64,
    },
    AskedModel {
        owner: String,
        session: SessionIdentity,
        role: Role,
    },
    ToolBegun {
        owner: String,
        session: SessionIdentity,
        tool: &'static str,
        arguments: Value,
    },
    Deleted {
        session: SessionIdentity,
    },
    /// The effect of the call that was begun at this place in the record.
    ToolHadEffect {
        begun: usize,
    },
}

impl World {
    pub(crate) fn new(dice: Dice, sabotage: Option<Sabotage>) -> Arc<Self> {
        Arc::new(Self {
            dice,
            conditions: Conditions::of(dice),
            sabotage,
            clock: TestClock::running(),
            calm: AtomicBool::new(true),
            occasions: Mutex::default(),
            numbers: AtomicU64::new(1),
            apart: Mutex::default(),
            record: Mutex::default(),
            wrong: Mutex::default(),
        })
    }

    /// Chance for the next time that this happens.
    pub(crate) fn chance(&self, occasion: fmt::Arguments<'_>) -> Random {
        let occasion = occasion.to_string();
        let mut occasions = self.occasions.lock().unwrap();
        let time = occasions.entry(occasion.clone()).or_default();
        *time += 1;
        self.dice.on(format_args!("{occasion} {time}"))
    }

    /// A number that nothing else has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    /// The next number, for something that stays apart from the conversation.
    pub(crate) fn number_apart(&self) -> u64 {
        let number = self.number();
        self.apart.lock().unwrap().insert(number);
        number
    }

    pub(crate) fn is_apart(&self, number: u64) -> bool {
        self.apart.lock().unwrap().contains(&number)
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Relaxed)
    }

    /// Whether something that happens so many times out of a thousand happens now.
    pub(crate) fn strikes(&self, random: &mut Random, per_mille: u64) -> bool {
        random.per_mille(per_mille) && !self.is_calm()
    }

    pub(crate) fn happened(&self, occurrence: Occurrence) -> usize {
        let mut record = self.record.lock().unwrap();
        record.push((self.clock.passed(), occurrence));
        record.len() - 1
    }

    pub(crate) fn record(&self) -> Vec<(u64, Occurrence)> {
        self.record.lock().unwrap().clone()
    }

    /// Something that must never be.
    pub(crate) fn wrong(&self, what: impl Into<String>) {
        let what = what.into();
        self.happened(Occurrence::Act(format!("wrong: {what}")));
        self.wrong.lock().unwrap().push(what);
    }

    pub(crate) fn all_wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap().clone()
    }

    /// Everything in it belongs to this session.
    pub(crate) fn belongs(&self, session: &SessionIdentity, what: &str, text: &str) {
        let own = mark(session);
        for found in marks(text).into_iter().filter(|found| *found != own) {
            self.wrong(format!("{what} in {session} has words of another session, {found}"));
        }
    }
}

/// The session in which the model writes files, without plans.
pub(crate) const FILES: u64 = 7;

pub(crate) fn session(number: u64) -> SessionIdentity {
    SessionIdentity::new(Channel::Cli, ConversationKey::new(format!("session-{number}")).unwrap())
}

/// A word that is in everything that is said in a session, and in nothing that is said elsewhere.
pub(crate) fn mark(session: &SessionIdentity) -> String {
    format!("markQ{}Q", session.conversation.as_str().trim_start_matches("session-"))
}

/// Every mark in a text.
pub(crate) fn marks(text: &str) -> BTreeSet<String> {
    let pieces = text.split("markQ").skip(1);
    let numbers = pieces.filter_map(|piece| piece.split_once('Q')).map(|(number, _)| number);
    let whole = numbers.filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    whole.map(|number| format!("markQ{number}Q")).collect()
}

/// The session that a mark belongs to.
pub(crate) fn marked(mark: &str) -> SessionIdentity {
    session(mark.trim_start_matches("markQ").trim_end_matches('Q').parse().unwrap())
}

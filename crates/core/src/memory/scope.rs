//! Where a memory belongs: `global`, `session:{channel}:{conversation}`, `goal:{channel}:{conversation}:{goal}` or
//! `task:{task}`. A text that is none of these is refused; it is never read as `global`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::identity::{ConversationKey, SessionIdentity};
use crate::ids::{GoalId, TaskId};
use crate::refusal::Refusal;
use crate::visible::quoted;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum MemoryScope {
    /// Read by every session. Only a person's promotion writes it.
    Global,
    Session(SessionIdentity),
    /// Shared by the tasks of one goal, within the session of the goal.
    Goal {
        session: SessionIdentity,
        goal: GoalId,
    },
    Task(TaskId),
}

const GLOBAL: &str = "global";
const SESSION: &str = "session";
const GOAL: &str = "goal";
const TASK: &str = "task";

impl MemoryScope {
    pub fn of_session(session: &SessionIdentity) -> Self {
        Self::Session(session.clone())
    }

    pub fn of_goal(session: &SessionIdentity, goal: &GoalId) -> Self {
        Self::Goal { session: session.clone(), goal: goal.clone() }
    }

    pub fn of_task(task: &TaskId) -> Self {
        Self::Task(task.clone())
    }

    /// The scope of a stored item. Items from before scopes have none; they count as global.
    pub fn of_stored(text: Option<&str>) -> Result<Self, Refusal> {
        text.map_or(Ok(Self::Global), str::parse)
    }

    /// The session that the scope itself names. A task does not name its session.
    pub const fn session(&self) -> Option<&SessionIdentity> {
        match self {
            Self::Session(session) | Self::Goal { session, .. } => Some(session),
            Self::Global | Self::Task(_) => None,
        }
    }

    /// `global`, `session`, `goal` or `task`.
    pub const fn level(&self) -> &'static str {
        match self {
            Self::Global => GLOBAL,
            Self::Session(_) => SESSION,
            Self::Goal { .. } => GOAL,
            Self::Task(_) => TASK,
        }
    }
}

impl fmt::Display for MemoryScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str(GLOBAL),
            Self::Session(session) => write!(f, "{SESSION}:{session}"),
            Self::Goal { session, goal } => write!(f, "{GOAL}:{session}:{goal}"),
            Self::Task(task) => write!(f, "{TASK}:{task}"),
        }
    }
}

impl FromStr for MemoryScope {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let malformed = || {
            Refusal::invalid(format!(
                "{} is not a scope: global, session:CHANNEL:KEY, goal:CHANNEL:KEY:GOAL or task:TASK",
                quoted(text)
            ))
        };
        if text == GLOBAL {
            return Ok(Self::Global);
        }
        let (level, rest) = text.split_once(':').ok_or_else(malformed)?;
        let scope = match level {
            SESSION => Self::Session(rest.parse().map_err(|_| malformed())?),
            GOAL => {
                let mut parts = rest.splitn(3, ':');
                let (Some(channel), Some(key), Some(goal)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err(malformed());
                };
                let channel = channel.parse().map_err(|_| malformed())?;
                let key = ConversationKey::existing(key).map_err(|_| malformed())?;
                let goal = GoalId::new(goal).map_err(|_| malformed())?;
                Self::Goal { session: SessionIdentity::new(channel, key), goal }
            }
            TASK => Self::Task(TaskId::new(rest).map_err(|_| malformed())?),
            _ => return Err(malformed()),
        };
        Ok(scope)
    }
}

impl TryFrom<String> for MemoryScope {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl Serialize for MemoryScope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

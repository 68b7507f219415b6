//! What a turn asks a person before one of its calls continues: permission for the call, or questions of the agent.
//!
//! An ask is durable. The turn stays open and no process works on it until a person has answered, hours later or on
//! another machine. Only a person's answer is one: an ask has no time-out.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{AskId, ExecutionId, RequestId, TurnId};
use crate::plan::Digest;
use crate::plan::execution::StepOutcome;
use crate::refusal::Refusal;
use crate::standing_rule::StandingRule;
use crate::visible::{quoted, visible};
use crate::wire::text_enum;

/// The characters of a title.
const TITLE: usize = 120;

/// An ask of the open turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    /// 1-based index of the call within the turn.
    pub call: u32,
    pub asked_at: Timestamp,
    pub subject: AskSubject,
    /// An answer names it, so that a person only answers what they were shown.
    pub digest: Digest,
    pub state: AskState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskSubject {
    Permission(CallToPermit),
    Questions { questions: Vec<Question> },
}

/// The call that a person is asked to permit, exactly as it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallToPermit {
    pub tool: String,
    pub arguments: Value,
    /// The rule or the default that makes it an ask.
    pub reason: String,
    /// The files that it acts on, as the call names them and where links lead. A permission is for a call that acts on these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The rule that the answer `always` makes. Without one nobody can answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Box<StandingRule>>,
}

impl CallToPermit {
    /// What the answer `always` permits, as a sentence.
    pub fn describe_always(&self) -> Option<String> {
        self.always.as_ref().map(|rule| format!("`always` permits {}.", rule.describe()))
    }
}

/// The reason with the files that a call acts on and does not name: a link leads there.
pub fn led_to(reason: &str, paths: &[String], is_named: impl Fn(&str) -> bool) -> String {
    let led: Vec<_> = paths.iter().filter(|path| !is_named(path)).map(|path| quoted(path)).collect();
    if led.is_empty() { reason.to_owned() } else { format!("{reason} It leads to {}.", led.join(", ")) }
}

/// Whether one of the texts in the arguments is this path.
pub fn names_path(arguments: &Value, path: &str) -> bool {
    match arguments {
        Value::String(text) => text.strip_prefix("./").unwrap_or(text) == path,
        Value::Array(items) => items.iter().any(|item| names_path(item, path)),
        Value::Object(fields) => fields.values().any(|field| names_path(field, path)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A question of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    /// Answers to choose from; a person may answer in their own words instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether several of the choices may be taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AskState {
    Waiting,
    /// No process has continued the turn yet.
    Answered {
        answer: AskAnswer,
    },
    /// A process continued the turn. If it ended since, it is unknown whether it made the call.
    Begun {
        answer: AskAnswer,
    },
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskAnswer {
    Permission {
        grant: Grant,
        /// What the person says to the agent about it.
        #[serde(rename = "words", default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// What the person changed the arguments to, before they permitted the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Box<Value>>,
    },
    /// One for each question.
    Questions { answers: Vec<String> },
}

text_enum! {
    /// How far a permission reaches.
    pub enum Grant {
        /// For this call.
        Once = "once",
        /// For this call whenever it comes again while the plan is carried out.
        Plan = "plan",
        /// A rule allows it from now on.
        Always = "always",
        No = "no",
    }
}

impl AskAnswer {
    /// The answer to a call as it was shown.
    pub fn permission(grant: Grant, note: Option<String>) -> Self {
        Self::Permission { grant, note, arguments: None }
    }
}

impl Grant {
    pub const fn permits(self) -> bool {
        match self {
            Self::Once | Self::Plan | Self::Always => true,
            Self::No => false,
        }
    }
}

/// A call that a person permitted for the rest of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedCall {
    pub execution: ExecutionId,
    pub tool: String,
    pub arguments: Value,
    /// As it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl Ask {
    /// What a person types to name it: the first digits of the digest.
    pub fn code(&self) -> String {
        self.digest.to_string().chars().take(8).collect()
    }

    /// Whether a person typed this ask's code, or more or fewer digits of its digest.
    pub fn is_named(&self, code: &str) -> bool {
        self.digest.to_string().starts_with(&code.to_lowercase())
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.state, AskState::Waiting)
    }

    /// Whether a person answered and no process has continued the turn yet.
    pub fn is_answered(&self) -> bool {
        matches!(self.state, AskState::Answered { .. })
    }

    pub fn answer(&self) -> Option<&AskAnswer> {
        match &self.state {
            AskState::Waiting => None,
            AskState::Answered { answer } | AskState::Begun { answer } => Some(answer),
        }
    }

    pub(crate) fn take_answer(&mut self, answer: AskAnswer) {
        self.state = AskState::Answered { answer };
    }

    /// A process continues the turn.
    pub(crate) fn resume(&mut self) {
        if let AskState::Answered { answer } = &self.state {
            self.state = AskState::Begun { answer: answer.clone() };
        }
    }
}

impl AskSubject {
    /// The fingerprint of what a person is shown, for this call of this turn only.
    pub fn digest(&self, turn: &TurnId, call: u32) -> Digest {
        let asked = match self {
            // Why it is asked may be said in other words; what runs may not change.
            Self::Permission(CallToPermit { tool, arguments, reason: _, paths, always }) => {
                let mut asked = json!({ "tool": tool, "arguments": arguments });
                if let Some(rule) = always {
                    asked["always"] = json!(rule);
                }
                if !paths.is_empty() {
                    asked["paths"] = json!(paths);
                }
                asked
            }
            Self::Questions { questions } => json!({ "questions": questions }),
        };
        Digest::of_value("planwright-ask-v1", &json!({ "turn": turn, "call": call, "asks": asked }))
    }

    /// What it is about, in one line.
    pub fn title(&self) -> String {
        let line = match self {
            Self::Permission(call) => {
                let named = ["command", "path"].iter().find_map(|name| call.arguments.get(name)?.as_str());
                let any = || call.arguments.as_object().and_then(|given| given.values().find_map(Value::as_str));
                let first = named.or_else(any);
                match first.and_then(|text| text.lines().next()) {
                    Some(first) => format!("{}: {first}", call.tool),
                    None => call.tool.clone(),
                }
            }
            Self::Questions { questions } => {
                questions.first().and_then(|asked| asked.text.lines().next()).unwrap_or_default().to_owned()
            }
        };
        visible(&line).chars().take(TITLE).collect()
    }

    /// Whether the answer is one to this ask.
    pub(crate) fn check_answer(&self, answer: &AskAnswer) -> Result<(), Refusal> {
        match (self, answer) {
            (
                Self::Permission(CallToPermit { always: None, .. }),
                AskAnswer::Permission { grant: Grant::Always, .. },
            ) => Err(Refusal::invalid("No rule was shown with this call: answer `once`, `plan` or `no`.")),
            (Self::Permission(_), AskAnswer::Permission { grant, arguments: Some(arguments), .. }) => {
                if *grant != Grant::Once {
                    return Err(Refusal::invalid("Changed arguments are permitted for one call: answer `once`."));
                }
                if !arguments.is_object() {
                    return Err(Refusal::invalid("The arguments of a call are one JSON object."));
                }
                Ok(())
            }
            (Self::Permission(_), AskAnswer::Permission { arguments: None, .. }) => Ok(()),
            (Self::Questions { questions }, AskAnswer::Questions { answers }) => {
                if questions.len() != answers.len() {
                    let message = format!("{} questions were asked, and {} answered.", questions.len(), answers.len());
                    return Err(Refusal::invalid(message));
                }
                match answers.iter().position(|answer| answer.trim().is_empty()) {
                    Some(index) => Err(Refusal::invalid(format!("Question {} has no answer.", index + 1))),
                    None => Ok(()),
                }
            }
            (Self::Permission(_), AskAnswer::Questions { .. }) => {
                Err(Refusal::invalid("The agent asks for permission: answer `once`, `plan`, `always` or `no`."))
            }
            (Self::Questions { .. }, AskAnswer::Permission { .. }) => {
                Err(Refusal::invalid("The agent asks a question: answer it in words."))
            }
        }
    }
}

/// What became of a call that a person has to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayAsk {
    /// The person is asked in the client that the agent runs in.
    Asked,
    /// The person permitted it there.
    Permitted,
    /// The person did not permit it, or the client did not ask them.
    NotPermitted,
    /// The approval policy takes no answer from the program that the agent runs in, so no person was asked.
    NotAsked,
}

impl fmt::Display for GatewayAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "the person is asked in the client",
            Self::Permitted => "permitted in the client",
            Self::NotPermitted => "not permitted",
            Self::NotAsked => "refused: the approval policy takes no answer from the agent's program",
        })
    }
}

text_enum! {
    /// Why a call ran.
    pub enum GatewayReason {
        /// It only reads.
        Reads = "reads",
        /// A rule of the person allows it.
        Rule = "rule",
        /// An approved plan was carried out.
        DuringPlan = "during_plan",
        /// A person permitted it in the client.
        Permitted = "permitted",
        /// Calls that change things are free.
        Free = "free",
    }
}

/// A call that was made for the agent of another program, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayCallRecord {
    /// Names the call.
    pub call: RequestId,
    pub tool: String,
    pub arguments: Value,
    pub why: GatewayReason,
    /// Absent before the call has ended. A call that changes things is written down before it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StepOutcome>,
}

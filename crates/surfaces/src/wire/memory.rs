//! A memory in JSON, the same in REST answers and on the command line.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{Factor, RankedMemory};
use planwright_core::memory::{
    MemoryItem, MemoryKind, MemoryOffer, MemoryOrigin, MemoryScope, MemorySource, MemoryTrust,
};
use planwright_core::presence::Act;
use planwright_core::session::SessionIdentity;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Memory)]
pub struct MemoryView {
    pub id: MemoryId,
    /// `global`, `session:CHANNEL:KEY`, `goal:CHANNEL:KEY:GOAL` or `task:TASK`
    #[schema(value_type = String)]
    pub scope: MemoryScope,
    pub kind: MemoryKind,
    pub content: String,
    pub tags: Vec<String>,
    pub source: SourceView,
    /// Who wrote it.
    pub author: Actor,
    pub trust: MemoryTrust,
    pub at: Timestamp,
    /// From then on it is not found any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub expires_at: Option<Timestamp>,
    /// Where it was learnt, if that was elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub origin: Option<OriginView>,
    /// How well it answers the question; 0 in a list.
    pub score: f64,
    /// The share of each factor in the score, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<ShareView>,
    /// Of its text. A person who lets every session read it signs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
}

/// Who said something elsewhere, when, and in which context. It is a claim of the person or agent that saved it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemoryOrigin)]
pub struct OriginView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub at: Option<Timestamp>,
    /// What it was said in or about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub context: Option<String>,
}

impl From<MemoryOrigin> for OriginView {
    fn from(origin: MemoryOrigin) -> Self {
        let MemoryOrigin { author, at, context } = origin;
        Self { author, at, context }
    }
}

/// What a rule offers to be remembered.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemoryOffer)]
pub struct MemoryOfferView {
    /// The id that the memory has once it is accepted.
    pub id: MemoryId,
    /// Where it is written.
    #[schema(value_type = String)]
    pub scope: MemoryScope,
    pub kind: MemoryKind,
    pub content: String,
    pub source: SourceView,
    pub at: Timestamp,
}

impl From<&MemoryOffer> for MemoryOfferView {
    fn from(offer: &MemoryOffer) -> Self {
        let MemoryOffer { id, kind, scope, content, source, at, run: _ } = offer.clone();
        Self { id, scope, kind, content, source: SourceView::from(&source), at }
    }
}

/// Where a memory came from.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemorySource)]
pub struct SourceView {
    /// `person`, `turn`, `tool`, `plan`, `workbook`, `diary` or `promotion`
    pub from: &'static str,
    /// The session that it was promoted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub session: Option<SessionIdentity>,
    /// The person who promoted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub promoted_by: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MemoryShare)]
pub struct ShareView {
    /// `text`, `before`, `after`, `answer`, `author`, `sitting`, `date`, `recency`, `scope` or `meaning`
    pub factor: &'static str,
    pub share: f64,
}

impl From<&MemoryItem> for MemoryView {
    fn from(item: &MemoryItem) -> Self {
        let MemoryItem { id, scope, kind, content, tags, source, author, trust, at, expires_at, origin } = item.clone();
        let origin = origin.map(OriginView::from);
        let source = SourceView::from(&source);
        let (digest, shares) = (Some(Act::promote(item).digest), Vec::new());
        let score = 0.0;
        Self { id, scope, kind, content, tags, source, author, trust, at, expires_at, origin, score, shares, digest }
    }
}

impl MemoryView {
    pub fn found(found: &RankedMemory) -> Self {
        Self { score: rounded(found.score), ..Self::from(&found.item) }
    }

    /// A found memory with the share of each factor.
    pub fn explained(found: &RankedMemory) -> Self {
        let share = |(factor, share): &(Factor, f64)| ShareView { factor: factor.as_str(), share: rounded(*share) };
        Self { shares: found.shares.iter().map(share).collect(), ..Self::found(found) }
    }
}

impl From<&MemorySource> for SourceView {
    fn from(source: &MemorySource) -> Self {
        let plain = |from| Self { from, session: None, promoted_by: None };
        match source {
            MemorySource::Person => plain("person"),
            MemorySource::Turn { .. } => plain("turn"),
            MemorySource::Tool => plain("tool"),
            MemorySource::Plan { .. } => plain("plan"),
            MemorySource::Workbook => plain("workbook"),
            MemorySource::Diary => plain("diary"),
            MemorySource::Promotion { session, promoted_by, .. } => Self {
                session: Some(session.clone()),
                promoted_by: Some(promoted_by.name.clone()),
                ..plain("promotion")
            },
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

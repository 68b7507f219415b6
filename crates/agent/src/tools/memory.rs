//! The memory tools a model sees, through the gate. They save and search; no tool forgets or promotes.

use planwright_core::auto::AutoExecutionContext;
use planwright_core::gate::{Caller, GateContext, MemoryTool, advertised_memory_tools, authorize_memory_tool};
use planwright_core::memory::ranking::RankedMemory;
use planwright_core::memory::{
    MemoryItem, MemoryKind, MemoryOffer, MemoryOrigin, MemoryQuery, MemorySource, NewMemory, ScopeChain,
};
use planwright_core::visible::visible;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Committed, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool_schema::{Arguments, ToolDefinition, parse, schema_of};

const DEFAULT_LIMIT: usize = 8;
const MAX_LIMIT: usize = 50;
/// The most offers beside the items of a search.
const MAX_OFFERS: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    /// A question or a few words.
    query: String,
    /// 8 items if absent.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveArguments {
    content: String,
    /// A fact if absent.
    #[serde(default)]
    kind: KindArgument,
    /// Other words that it is found by.
    #[serde(default)]
    tags: Vec<String>,
    /// Who said it elsewhere.
    #[serde(default)]
    author: Option<String>,
    // The names of these two say enough: each word here is sent with every request of a model.
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    context: Option<String>,
    /// The id of an offer to accept; `content` is then not read.
    #[serde(default)]
    offer: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum KindArgument {
    #[default]
    Fact,
    Preference,
    Decision,
    Constraint,
    Result,
}

impl From<KindArgument> for MemoryKind {
    fn from(kind: KindArgument) -> Self {
        match kind {
            KindArgument::Fact => Self::Fact,
            KindArgument::Preference => Self::Preference,
            KindArgument::Decision => Self::Decision,
            KindArgument::Constraint => Self::Constraint,
            KindArgument::Result => Self::Result,
        }
    }
}

/// The memory tools that pass the gate in this situation.
pub(super) fn tools(situation: &GateContext) -> impl Iterator<Item = ToolDefinition> {
    advertised_memory_tools(situation).map(define)
}

fn define(tool: MemoryTool) -> ToolDefinition {
    let (description, input_schema) = match tool {
        MemoryTool::Search => (include_str!("descriptions/memory_search.md"), schema_of::<SearchArguments>()),
        MemoryTool::Save => (include_str!("descriptions/memory_save.md"), schema_of::<SaveArguments>()),
    };
    let description = description.trim_end().to_owned();
    ToolDefinition { name: tool.name(), description, input_schema, reads_only: tool.reads_only() }
}

/// What is offered and has a word of the question.
async fn matching_offers(engine: &Engine, chain: &ScopeChain, text: &str) -> LedgerResult<Vec<Value>> {
    let query = MemoryQuery::of(text);
    let offers = engine.memories().offers_in(chain).await?;
    let matching = offers.iter().filter(|offer| query.shares_a_term_with(&offer.content));
    Ok(matching.take(MAX_OFFERS).map(offered_item).collect())
}

/// The answer, and what was committed if something was. The run decides the scopes.
pub(crate) async fn call(
    engine: &Engine,
    request: SubmitRequest<'_>,
    caller: Caller,
    run: Option<&AutoExecutionContext>,
    tool: MemoryTool,
    arguments: Arguments,
) -> LedgerResult<(Value, Option<Committed>)> {
    let snapshot = engine.ledger().snapshot(request.session, None).await?;
    authorize_memory_tool(&GateContext::of(&snapshot, engine.policy(), caller), tool)?;
    match tool {
        MemoryTool::Search => {
            let given: SearchArguments = parse(tool.name(), arguments)?;
            let chain = ScopeChain::of(request.session, run)?;
            let limit = given.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
            let search = engine.memories().search(&chain, &given.query, limit).await?;
            let mut answer = json!({ "items": search.found.iter().map(found_item).collect::<Vec<_>>() });
            if let Some(note) = &search.note {
                answer["note"] = json!(visible(note));
            }
            let offers = matching_offers(engine, &chain, &given.query).await?;
            if !offers.is_empty() {
                answer["offers"] = json!(offers);
            }
            Ok((answer, None))
        }
        MemoryTool::Save => {
            let given: SaveArguments = parse(tool.name(), arguments)?;
            if let Some(reference) = &given.offer {
                let chain = ScopeChain::of(request.session, run)?;
                let offer = engine.memories().find_offer_in(&chain, reference).await?;
                let (item, committed) = engine.memories().accept_as(request, offer).await?;
                return Ok((json!({ "id": item.id, "scope": item.scope, "kind": item.kind }), Some(committed)));
            }
            let source = match &request.turn {
                Some(turn) => MemorySource::Turn { turn: turn.clone() },
                None => MemorySource::Tool,
            };
            let new = NewMemory {
                content: given.content,
                kind: given.kind.into(),
                tags: given.tags,
                scope: None,
                source,
                expires_at: None,
                origin: MemoryOrigin::stated(given.author, given.at.as_deref(), given.context)?,
                run: run.cloned(),
            };
            let (item, committed) = engine.memories().save_as(request, new).await?;
            Ok((json!({ "id": item.id, "scope": item.scope, "kind": item.kind }), Some(committed)))
        }
    }
}

fn offered_item(offer: &MemoryOffer) -> Value {
    let MemoryOffer { id, kind, scope, content, at, .. } = offer;
    json!({ "offer": id, "kind": kind, "scope": scope, "content": visible(content), "at": at })
}

fn found_item(found: &RankedMemory) -> Value {
    let RankedMemory { item, score, .. } = found;
    let MemoryItem { id, scope, kind, tags, author, trust, at, .. } = item;
    let mut shown = json!({
        "id": id,
        "scope": scope,
        "kind": kind,
        "content": visible(&item.content),
        "tags": tags,
        "author": visible(&author.name),
        "through": author.through,
        "trust": trust,
        "at": at,
        "score": (score * 1000.0).round() / 1000.0,
    });
    if let Some(MemoryOrigin { author, at, context }) = &item.origin {
        shown["said"] =
            json!({ "by": author.as_deref().map(visible), "at": at, "in": context.as_deref().map(visible) });
    }
    shown
}

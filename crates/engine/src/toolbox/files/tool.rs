//! What the five tools have in common: arguments are taken apart, and the work is done where it may block.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::effort::Effort;
use super::fence::{Fence, Passed};
use super::folder::SessionFolder;
use super::{FileLimits, Shared};
use crate::schema;
use crate::toolbox::{Tool, ToolContext};
use crate::tools::Arguments;

/// The arguments of one tool, and what it does with them.
pub(super) trait FileCall: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: ToolEffect;

    /// What the types of the arguments do not say.
    fn check(&self, limits: &FileLimits) -> Result<(), Refusal>;

    /// Does it, and may block.
    fn carry_out(self, place: &Workplace) -> Result<Value, Refusal>;
}

/// Where a call works and how much it may do there.
#[derive(Debug)]
pub(super) struct Workplace {
    pub(super) folder: SessionFolder,
    pub(super) limits: FileLimits,
    pub(super) effort: Effort,
    pub(super) fence: Option<Fence>,
}

impl Workplace {
    /// Asked right before a file is put in its place, and kept until it is.
    pub(super) fn pass_fence(&self) -> Result<Option<Passed>, Refusal> {
        self.fence.as_ref().map(|fence| fence.pass(&self.folder)).transpose()
    }
}

#[derive(Debug)]
pub(super) struct FileTool<C> {
    spec: ToolSpec,
    shared: Arc<Shared>,
    call: PhantomData<fn() -> C>,
}

impl<C: FileCall> FileTool<C> {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let spec = ToolSpec {
            name: C::NAME.to_owned(),
            description: C::DESCRIPTION.trim_end().to_owned(),
            input_schema: schema::schema_of::<C>(),
        };
        Self { spec, shared: Arc::clone(shared), call: PhantomData }
    }

    fn understand(&self, arguments: Arguments) -> Result<C, Refusal> {
        let call: C = schema::parse(C::NAME, arguments)?;
        call.check(&self.shared.limits)?;
        Ok(call)
    }

    pub(super) async fn carry_out(&self, context: ToolContext<'_>, call: C) -> Result<Value, Refusal> {
        call.check(&self.shared.limits)?;
        let session = context.session;
        let (turn, fence) = match C::EFFECT {
            ToolEffect::ReadsOnly => (None, None),
            ToolEffect::Repeatable | ToolEffect::Changes => {
                let turn = self.shared.turn(session).await;
                (Some(turn), self.shared.claim(context).await?)
            }
        };
        let limits = self.shared.limits.clone();
        let (effort, _waiting) = Effort::begin(limits.time);
        let place = Workplace { folder: self.shared.folder(session), limits, effort, fence };
        let work = move || {
            // A writer nobody waits for any more keeps its turn until it has really stopped.
            let _turn = turn;
            call.carry_out(&place)
        };
        self.shared.blocking(C::NAME, work).await
    }
}

#[async_trait]
impl<C: FileCall> Tool for FileTool<C> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        C::EFFECT
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.understand(arguments.clone()).map(drop)
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<Value, Refusal> {
        self.carry_out(context, schema::parse(C::NAME, arguments)?).await
    }
}

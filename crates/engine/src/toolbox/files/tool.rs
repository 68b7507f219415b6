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

use super::deadline::Deadline;
use super::fence::{Fence, Passed};
use super::folder::SessionFolder;
use super::{FileLimits, Shared};
use crate::tool_schema::{self, Arguments};
use crate::toolbox::{Tool, ToolContext};

/// The arguments of one tool, and their execution.
pub(super) trait FileCall: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: ToolEffect;

    /// Checks what the types of the arguments do not.
    fn check(&self, limits: &FileLimits) -> Result<(), Refusal>;

    /// Carries the call out; it may block.
    fn carry_out(self, place: &FileCallContext) -> Result<Value, Refusal>;
}

/// The folder a call works in, its limits and its deadline.
#[derive(Debug)]
pub(super) struct FileCallContext {
    pub(super) folder: SessionFolder,
    pub(super) limits: FileLimits,
    pub(super) deadline: Deadline,
    pub(super) fence: Option<Fence>,
}

impl FileCallContext {
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
            input_schema: tool_schema::schema_of::<C>(),
        };
        Self { spec, shared: Arc::clone(shared), call: PhantomData }
    }

    fn parse_call(&self, arguments: Arguments) -> Result<C, Refusal> {
        let call: C = tool_schema::parse(C::NAME, arguments)?;
        call.check(&self.shared.limits)?;
        Ok(call)
    }

    pub(super) async fn carry_out(&self, context: ToolContext<'_>, call: C) -> Result<Value, Refusal> {
        call.check(&self.shared.limits)?;
        let session = context.session;
        let (write_lock, fence) = match C::EFFECT {
            ToolEffect::ReadsOnly => (None, None),
            ToolEffect::Repeatable | ToolEffect::Changes => {
                let write_lock = self.shared.write_lock(session).await;
                (Some(write_lock), self.shared.claim(context).await?)
            }
        };
        let limits = self.shared.limits.clone();
        let (deadline, _cancel_on_drop) = Deadline::begin(limits.time);
        let place = FileCallContext { folder: self.shared.folder(session), limits, deadline, fence };
        let work = move || {
            // A writer whose caller is gone keeps the lock until it has stopped.
            let _write_lock = write_lock;
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
        self.parse_call(arguments.clone()).map(drop)
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<Value, Refusal> {
        self.carry_out(context, tool_schema::parse(C::NAME, arguments)?).await
    }
}

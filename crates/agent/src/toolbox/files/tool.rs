//! What the file tools have in common: arguments are taken apart, and the work is done where it may block.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::permission::DeniedPaths;
use planwright_core::refusal::Refusal;
use planwright_core::workspace::{FileChange, Workspace};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::change::hash_of;
use super::deadline::{CancelOnDrop, Deadline};
use super::fence::{Fence, FenceGuard};
use super::folder::SessionFolder;
use super::git_folders;
use super::io_error;
use super::kept::KeptVersions;
use super::open::open_named;
use super::path::{FilePath, real_path};
use super::workspace::WorkspaceFolder;
use super::{FileLimits, Shared};
use crate::tool_schema::{self, Arguments};
use crate::toolbox::{Tool, ToolAnswer, ToolContext, ToolTarget};

/// The arguments of one tool, and their execution.
pub(super) trait FileCall: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: ToolEffect;

    /// Checks what the types of the arguments do not.
    fn check(&self, limits: &FileLimits) -> Result<(), Refusal>;

    /// The paths that it names.
    fn paths(&self) -> Vec<&FilePath>;

    /// Carries the call out; it may block.
    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal>;
}

/// The folder a call works in, its limits and its deadline.
#[derive(Debug)]
pub(super) struct FileCallContext {
    /// The session's own folder, which holds the fence and the kept versions of any workspace.
    pub(super) own: SessionFolder,
    pub(super) chosen: Workspace,
    pub(super) workspace: WorkspaceFolder,
    pub(super) limits: FileLimits,
    pub(super) deadline: Deadline,
    pub(super) fence: Option<Fence>,
    /// The name of the call, if it has one.
    pub(super) call: Option<String>,
    /// What a search passes by.
    pub(super) denied: DeniedPaths,
    pub(super) shared: Arc<Shared>,
}

/// All that a call needs before it may block.
#[derive(Debug)]
pub(super) struct OpeningContext {
    own: SessionFolder,
    chosen: Workspace,
    deadline: Deadline,
    fence: Option<Fence>,
    call: Option<String>,
    denied: DeniedPaths,
    shared: Arc<Shared>,
}

impl OpeningContext {
    /// Opens the workspace; this may block.
    pub(super) fn open(self) -> Result<FileCallContext, Refusal> {
        let Self { own, chosen, deadline, fence, call, denied, shared } = self;
        let workspace = WorkspaceFolder::open(&chosen, own.clone(), &shared.projects)?;
        let limits = shared.limits.clone();
        Ok(FileCallContext { own, chosen, workspace, limits, deadline, fence, call, denied, shared })
    }
}

impl FileCallContext {
    pub(super) fn opening(
        shared: &Arc<Shared>,
        context: ToolContext<'_>,
        fence: Option<Fence>,
    ) -> (OpeningContext, CancelOnDrop) {
        let (deadline, cancel_on_drop) = Deadline::begin(shared.limits.time);
        let opening = OpeningContext {
            own: shared.folder(context.session),
            chosen: context.workspace.clone(),
            deadline,
            fence,
            call: context.call.map(str::to_owned),
            denied: context.denied_paths(),
            shared: Arc::clone(shared),
        };
        (opening, cancel_on_drop)
    }

    /// Asked right before a file is put in its place, and kept until it is.
    pub(super) fn pass_fence(&self) -> Result<Option<FenceGuard>, Refusal> {
        self.fence.as_ref().map(|fence| fence.pass(&self.own)).transpose()
    }

    /// Counts what was kept for these changes, and makes room if it is too much.
    pub(super) fn count_kept(&self, kept: &KeptVersions, changes: &[&FileChange]) {
        let versions = changes.iter().flat_map(|change| [change.before, change.after]);
        self.shared.count_kept(self.own.name(), kept, versions.flatten().map(|version| version.bytes).sum());
    }

    /// What an earlier call of the same name did, if it did all of it.
    fn done_before(&self) -> Result<Option<ToolAnswer>, Refusal> {
        let Some(call) = &self.call else { return Ok(None) };
        let Some(kept) = KeptVersions::open(&self.own)? else { return Ok(None) };
        let noted = kept.noted_call(call).map_err(|error| io_error::refusal("the folder of kept versions", &error))?;
        let Some(changes) = noted else { return Ok(None) };
        for change in &changes {
            if change.workspace != self.chosen || !self.is_done(change)? {
                return Ok(None);
            }
        }
        let paths: Vec<_> = changes.iter().map(|change| change.path.as_str()).collect();
        let value = json!({"paths": paths, "done_before": "This call was carried out before a restart."});
        Ok(Some(ToolAnswer::changed(value, changes)))
    }

    fn is_done(&self, change: &FileChange) -> Result<bool, Refusal> {
        let Some(files) = self.workspace.files()? else { return Ok(false) };
        let path = FilePath::parse(&change.path)?;
        let Some(after) = &change.after else { return Ok(files.symlink_metadata(path.beneath()).is_err()) };
        let Ok(opened) = open_named(&files, &path) else { return Ok(false) };
        Ok(hash_of(opened.file).is_ok_and(|hash| hash == after.hash))
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
        match C::EFFECT {
            ToolEffect::ReadsOnly => {}
            ToolEffect::Repeatable | ToolEffect::Changes => {
                call.paths().into_iter().try_for_each(git_folders::check_words)?;
            }
        }
        Ok(call)
    }

    pub(super) async fn carry_out(&self, context: ToolContext<'_>, call: C) -> Result<ToolAnswer, Refusal> {
        call.check(&self.shared.limits)?;
        let (write_locks, fence) = match C::EFFECT {
            ToolEffect::ReadsOnly => {
                self.shared.fetch(context.session).await?;
                (None, None)
            }
            ToolEffect::Repeatable | ToolEffect::Changes => {
                let write_locks = self.shared.write_locks(context.session, context.workspace).await;
                (Some(write_locks), self.shared.claim(context).await?)
            }
        };
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, fence);
        let work = move || {
            // A writer whose caller is gone keeps the lock until it has stopped.
            let _write_locks = write_locks;
            let place = opening.open()?;
            match C::EFFECT {
                ToolEffect::ReadsOnly => call.carry_out(&place),
                ToolEffect::Repeatable | ToolEffect::Changes => match place.done_before()? {
                    Some(answer) => Ok(answer),
                    None => call.carry_out(&place),
                },
            }
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

    async fn target(&self, context: ToolContext<'_>, arguments: &Arguments) -> Result<ToolTarget, Refusal> {
        let call = self.parse_call(arguments.clone())?;
        self.shared.fetch(context.session).await?;
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, None);
        let work = move || {
            let files = opening.open()?.workspace.files()?;
            let mut paths: Vec<String> = Vec::new();
            for path in call.paths() {
                let real = files.as_ref().and_then(|files| real_path(files, path));
                let names = std::iter::once(path.as_str().to_owned()).chain(real);
                for name in names {
                    if !paths.contains(&name) {
                        paths.push(name);
                    }
                }
            }
            Ok(ToolTarget::Paths(paths))
        };
        self.shared.blocking(C::NAME, work).await
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        self.carry_out(context, tool_schema::parse(C::NAME, arguments)?).await
    }

    async fn done_before(&self, context: ToolContext<'_>) -> Result<Option<ToolAnswer>, Refusal> {
        // A call that was given up keeps the lock until it has stopped.
        let write_locks = self.shared.write_locks(context.session, context.workspace).await;
        self.shared.fetch(context.session).await?;
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, None);
        let work = move || {
            let _write_locks = write_locks;
            opening.open()?.done_before()
        };
        self.shared.blocking(C::NAME, work).await
    }
}

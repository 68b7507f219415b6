//! What a client may ask, and what it is told.

#![allow(deprecated, reason = "clients of the older life cycle have logging, roots and subscriptions of their own")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_agent::tools::{ExternalTools, tools_of_style};
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Reference, ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::answer::CallAnswer;
use super::client_input::{caller, is_newest};
use super::gateway::Gateway;
use super::pending_calls::PendingCalls;
use super::request_order::give_up_position;
use super::session::{begin, check_target, choose, peer_of};
use super::session_changes::SessionChanges;
use super::upstream::UpstreamUpdates;
use super::{
    McpOptions, Never, PersonCommands, PlanStart, answer, completion, gateway, instructions, notifications, prompts,
    resources, upstream,
};

/// How many resources a client is told about.
const MAX_SUBSCRIPTIONS: usize = 100;

/// A cheap handle; clones share everything. What it started ends with the last of them.
#[derive(Debug, Clone)]
pub(crate) struct PlanServer {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: McpOptions,
    pub(super) session: OnceCell<OpenedSession>,
    /// Cancelled when the client has left or is to be left.
    closing: CancellationToken,
    /// Whether the client is being told about changes.
    tells: OnceCell<()>,
    subscriptions: Mutex<BTreeSet<String>>,
    /// The server and its own address of each resource of an upstream server that the client subscribed to, by the address
    /// that the client knows.
    upstream_subscriptions: Mutex<BTreeMap<String, (ServerName, String)>>,
    log_level: Mutex<Option<LoggingLevel>>,
    /// Calls that wait for the client's answers.
    pub(super) pending: PendingCalls,
    /// The version of a plan that this client read or wrote last.
    pub(super) seen: Mutex<Option<Arc<Plan>>>,
}

#[derive(Debug)]
pub(super) struct OpenedSession {
    pub(super) identity: SessionIdentity,
    pub(super) changes: SessionChanges,
}

pub(super) fn implementation() -> Implementation {
    Implementation::new("planwright", crate::build_info::VERSION).with_title("Planwright")
}

impl Shared {
    pub(super) fn engine(&self) -> &Engine {
        &self.options.engine
    }

    pub(super) fn subscribed(&self) -> Vec<String> {
        locked(&self.subscriptions).iter().cloned().collect()
    }

    pub(super) fn is_subscribed_upstream(&self, uri: &str) -> bool {
        locked(&self.upstream_subscriptions).contains_key(uri)
    }

    pub(super) fn log_level(&self) -> Option<LoggingLevel> {
        *locked(&self.log_level)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.closing.cancel();
        let subscribed = std::mem::take(&mut *locked(&self.upstream_subscriptions));
        let (Some(gateway), Ok(runtime)) = (self.options.gateway.clone(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        if !subscribed.is_empty() {
            runtime.spawn(async move { upstream::unsubscribe(&gateway, subscribed.into_values()).await });
        }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PlanServer {
    pub(crate) fn new(options: McpOptions, closing: CancellationToken, pending: PendingCalls) -> Self {
        let (session, tells, subscriptions, upstream_subscriptions, log_level, seen) = Default::default();
        Self {
            shared: Arc::new(Shared {
                options,
                session,
                closing,
                tells,
                subscriptions,
                upstream_subscriptions,
                log_level,
                pending,
                seen,
            }),
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        self.shared.engine()
    }

    pub(super) fn commands(&self) -> &PersonCommands {
        &self.shared.options.commands
    }

    /// Opens the session before the first request. A failure is told with the first request that needs it.
    pub(super) async fn open_early(&self) {
        if let Err(error) = self.opened(None).await {
            tracing::warn!(%error, "the session could not be opened for MCP");
        }
    }

    /// The session of this connection. What failed before is tried again.
    async fn opened(&self, context: Option<&RequestContext<RoleServer>>) -> LedgerResult<&OpenedSession> {
        let opened = self.shared.session.get_or_try_init(|| async {
            let McpOptions { engine, session, start, setup, .. } = &self.shared.options;
            let (identity, start) = choose(session, *start, context).await;
            begin(engine, &identity, start, setup.as_ref(), context.and_then(peer_of)).await?;
            tracing::info!(session_identity = %identity, "serving MCP");
            let changes = SessionChanges::default();
            self.watch(&identity, &changes);
            LedgerResult::Ok(OpenedSession { identity, changes })
        });
        let opened = opened.await?;
        if let Some(context) = context {
            check_target(&opened.identity, context)?;
        }
        Ok(opened)
    }

    /// Looks at the session as long as this server lives.
    fn watch(&self, session: &SessionIdentity, changes: &SessionChanges) {
        let McpOptions { engine, feed, gateway, .. } = &self.shared.options;
        let (engine, written) = (engine.clone(), feed.watch(session));
        let (watched, watching) = (session.clone(), changes.clone());
        self.spawn(async move { watching.watch(&engine, &watched, written).await });
        if let Some(gateway) = gateway.clone() {
            let (changes, session) = (changes.clone(), session.clone());
            self.spawn(async move { gateway::carry_out(&gateway, &session, &changes).await });
        }
    }

    /// Does work until the connection closes. The work must not keep the server alive.
    fn spawn(&self, work: impl Future<Output = Never> + Send + 'static) {
        let closing = self.shared.closing.clone();
        tokio::spawn(async move { closing.run_until_cancelled(work).await });
    }

    /// Tells a client that came by `initialize` about changes, from its first request on.
    async fn tell(&self, opened: &OpenedSession, peer: &Peer<RoleServer>) {
        if peer.peer_info().is_none() {
            return;
        }
        let told = self.shared.tells.get_or_init(|| async {
            let (identity, changes, peer) = (opened.identity.clone(), opened.changes.clone(), peer.clone());
            let shared = Arc::downgrade(&self.shared);
            let updates = self.shared.options.gateway.as_ref().and_then(Gateway::resource_updates);
            self.spawn(async move { notifications::notify_client(&shared, &identity, &changes, updates, &peer).await });
        });
        told.await;
    }

    /// The session of a request, from now on told about changes.
    pub(super) async fn entered(&self, context: &RequestContext<RoleServer>) -> LedgerResult<&OpenedSession> {
        let opened = self.opened(Some(context)).await?;
        self.tell(opened, &context.peer).await;
        Ok(opened)
    }

    /// The server's description with instructions for the style that plan work is in now.
    async fn described(&self, mut config: ServerConfig, context: Option<&RequestContext<RoleServer>>) -> ServerConfig {
        let text = async {
            let opened = self.opened(context).await?;
            let mode = self.engine().sessions().get(&opened.identity).await?.plan_mode;
            let has_rounds = self.engine().policy().has_rounds;
            LedgerResult::Ok(instructions::text(&opened.identity, &mode, has_rounds, self.commands()))
        };
        // The client still gets to know the server; its calls are told what is wrong, too.
        config.instructions =
            Some(text.await.unwrap_or_else(|error| instructions::failed(&error.into_refusal().message)));
        config
    }

    /// The gateway, once its servers were looked at. The requests behind this one do not wait for it.
    pub(super) async fn gateway_for(&self, context: &mut RequestContext<RoleServer>) -> Option<&Gateway> {
        let gateway = self.shared.options.gateway.as_ref()?;
        give_up_position(context);
        self.wait_for_start(gateway, context).await;
        Some(gateway)
    }

    pub(super) async fn wait_for_start(&self, gateway: &Gateway, context: &RequestContext<RoleServer>) {
        tokio::select! {
            () = gateway.started() => {}
            () = context.ct.cancelled() => {}
            () = self.shared.closing.cancelled() => {}
        }
    }
}

impl ServerHandler for PlanServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(implementation())
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let negotiated = self.negotiate_initialize(&request)?;
        request.protocol_version = negotiated.protocol_version.clone();
        let has_roots = request.capabilities.roots.is_some();
        context.peer.set_peer_info(request);
        // A client answers requests only after this answer, so its folders cannot be asked for yet.
        if has_roots && self.shared.session.get().is_none() && !self.is_named(&context) {
            let mut config = negotiated;
            config.instructions = Some(include_str!("instructions/before_roots.md").trim_end().to_owned());
            return Ok(config);
        }
        Ok(self.described(negotiated, Some(&context)).await)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // The client is told about changes from now on, if its session is known.
        if let Some(opened) = self.shared.session.get() {
            self.tell(opened, &context.peer).await;
        }
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let described = self.described(self.get_info(), Some(&context)).await;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), described))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request, "tools")?;
        let advertised = async {
            let opened = self.entered(&context).await?;
            ExternalTools::new(self.engine()).advertised(&opened.identity).await
        };
        let own = match advertised.await {
            Ok(tools) => tools,
            // The calls say what is wrong; a client without tools would not make any.
            Err(error) => {
                tracing::warn!(%error, "the tools could not be listed");
                match self.shared.options.start {
                    PlanStart::Ensure(style) => tools_of_style(style.unwrap_or(PlanStyle::Document)),
                    PlanStart::Off => Vec::new(),
                }
            }
        };
        let mut tools: Vec<_> = own.into_iter().map(|tool| answer::tool(tool, &context)).collect();
        if let Some(gateway) = self.gateway_for(&mut context).await {
            gateway.refresh().await;
            tools.push(answer::tool(Gateway::result_tool(), &context));
            tools.extend(gateway::tools(gateway));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let arguments = arguments.unwrap_or_default();
        let responses = input_responses.unwrap_or_default();
        let (outcome, ignored) = match request_state {
            Some(state) => (self.call_tool_again(&state, &name, arguments, responses, &mut context).await?, Vec::new()),
            None => self.call(&name, Value::Object(arguments), responses, &mut context).await,
        };
        Ok(match outcome {
            Ok(CallAnswer::InputRequired(asked)) => (*asked).into(),
            Ok(CallAnswer::Error(error)) => return Err(*error),
            outcome => answer::outcome(outcome, &ignored).into(),
        })
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request, "prompts")?;
        let mut listed = prompts::list();
        if let Some(gateway) = self.gateway_for(&mut context).await {
            listed.extend(upstream::prompts(gateway).await);
        }
        Ok(ListPromptsResult::with_all_items(listed))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let opened = self.entered(&context).await.map_err(answer::unanswered)?;
        let (session, arguments) = (&opened.identity, request.arguments.as_ref());
        let found = prompts::get(self.engine(), session, self.commands(), &request.name, arguments).await;
        let mut found = found.map_err(answer::refused_request)?.map(GetPromptResponse::from);
        let name = request.name.clone();
        if found.is_none() {
            found = self.prompt_upstream(request, &mut context).await?;
        }
        match found {
            Some(GetPromptResponse::Complete(mut prompt)) => {
                answer::name_type(&mut prompt.result_type);
                Ok(prompt.into())
            }
            Some(asked) => Ok(asked),
            None => Err(invalid_params(format!("There is no prompt {}.", quoted(&name)))),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        one_page(request, "resources")?;
        let opened = self.entered(&context).await.map_err(answer::unanswered)?;
        let mut listed = resources::list(self.engine(), &opened.identity).await.map_err(answer::unanswered)?;
        if let Some(gateway) = self.gateway_for(&mut context).await {
            listed.extend(upstream::resources(gateway).await);
        }
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request, "resource templates")?;
        let mut listed = resources::templates();
        if let Some(gateway) = self.gateway_for(&mut context).await {
            listed.extend(upstream::templates(gateway).await);
        }
        Ok(ListResourceTemplatesResult::with_all_items(listed))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let opened = self.entered(&context).await.map_err(answer::unanswered)?;
        let ReadResourceRequestParams { uri, input_responses, request_state, .. } = request;
        let found = resources::read(self.engine(), &opened.identity, &uri).await;
        if let Some(contents) = found.map_err(|error| answer::refused_resource(&uri, error))? {
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        let responses = input_responses.unwrap_or_default();
        let found = self.read_upstream(&uri, responses, request_state, &mut context).await?;
        found.ok_or_else(|| answer::no_resource(&uri))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if upstream::is_upstream(&request.uri) {
            return self.subscribe_upstream(&request.uri, &mut context).await;
        }
        if !resources::exists(&request.uri) {
            return Err(answer::no_resource(&request.uri));
        }
        self.entered(&context).await.map_err(answer::unanswered)?;
        let mut subscriptions = locked(&self.shared.subscriptions);
        if subscriptions.len() >= MAX_SUBSCRIPTIONS && !subscriptions.contains(&request.uri) {
            return Err(invalid_params(format!("A client subscribes to at most {MAX_SUBSCRIPTIONS} resources.")));
        }
        subscriptions.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        locked(&self.shared.subscriptions).remove(&request.uri);
        let of = locked(&self.shared.upstream_subscriptions).remove(&request.uri);
        if let Some(gateway) = &self.shared.options.gateway {
            upstream::unsubscribe(gateway, of).await;
        }
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_newest(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *locked(&self.shared.log_level) = Some(request.level);
        self.entered(&context).await.map_err(answer::unanswered)?;
        self.pass_on_log_level(request.level).await;
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let opened = self.entered(&context).await.map_err(answer::unanswered)?;
        let may_be_upstream = match &request.r#ref {
            Reference::Prompt(prompt) => prompt.name.contains("__"),
            Reference::Resource(template) => upstream::is_upstream(&template.uri),
            // The enum may grow.
            _ => false,
        };
        if may_be_upstream && let Some(gateway) = self.gateway_for(&mut context).await {
            let by = caller(&context);
            let completed = upstream::complete(gateway, &opened.identity, &by, &request).await;
            if let Some(mut completed) = completed.map_err(answer::refused_request)? {
                answer::name_type(&mut completed.result_type);
                return Ok(completed);
            }
        }
        completion::complete(self.engine(), &opened.identity, &request).await.map_err(answer::unanswered)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::builder().tools_list_changed().build();
        let wanted = requested.resource_subscriptions.iter().flatten();
        let uris: Vec<_> = wanted.filter(|uri| self.can_subscribe(uri)).take(MAX_SUBSCRIPTIONS).cloned().collect();
        accepted.resource_subscriptions = (!uris.is_empty()).then_some(uris);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let opened = self.opened(Some(context.request_context())).await.map_err(answer::unanswered)?;
        let (mut tools, mut entries) = (opened.changes.tools(), opened.changes.entries());
        let wants_tools = context.accepted().tools_list_changed == Some(true);
        let (foreign, uris): (Vec<_>, Vec<_>) = context
            .accepted()
            .resource_subscriptions
            .iter()
            .flatten()
            .cloned()
            .partition(|uri| upstream::is_upstream(uri));
        if let Some(gateway) = self.shared.options.gateway.as_ref().filter(|_| !foreign.is_empty()) {
            self.wait_for_start(gateway, context.request_context()).await;
        }
        let (gateway, by) = (self.shared.options.gateway.as_ref(), caller(context.request_context()));
        let mut upstream_updates = UpstreamUpdates::begin(gateway, &opened.identity, &by, &foreign).await;
        loop {
            let sent = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.shared.closing.cancelled() => return Ok(()),
                change = tools.changed(), if wants_tools => {
                    change.is_ok() && context.sink().notify_tool_list_changed().await.is_ok()
                }
                uri = upstream_updates.next() => context.sink().notify_resource_updated(uri).await.is_ok(),
                change = entries.changed(), if !uris.is_empty() => {
                    let mut sent = change.is_ok();
                    for uri in &uris {
                        sent &= context.sink().notify_resource_updated(uri.clone()).await.is_ok();
                    }
                    sent
                }
            };
            if !sent {
                return Ok(());
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.answer_unread(request, context).await
    }
}

impl PlanServer {
    /// The servers are told which lines of their logs are wanted.
    pub(super) async fn pass_on_log_level(&self, level: LoggingLevel) {
        if let Some(gateway) = &self.shared.options.gateway {
            gateway.set_log_level(notifications::level_name(level)).await;
        }
    }

    fn can_subscribe(&self, uri: &str) -> bool {
        resources::exists(uri) || (upstream::is_upstream(uri) && self.shared.options.gateway.is_some())
    }

    async fn subscribe_upstream(&self, uri: &str, context: &mut RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let opened = self.entered(context).await.map_err(answer::unanswered)?;
        if locked(&self.shared.upstream_subscriptions).len() >= MAX_SUBSCRIPTIONS {
            return Err(invalid_params(format!("A client subscribes to at most {MAX_SUBSCRIPTIONS} resources.")));
        }
        let found = match self.gateway_for(context).await {
            Some(gateway) => {
                let found = upstream::resource_of(gateway, uri).await;
                let found = found.map_err(|error| answer::refused_resource(uri, error))?;
                found.map(|of| (gateway, of))
            }
            None => None,
        };
        let Some((gateway, of)) = found else { return Err(answer::no_resource(uri)) };
        // It is on the list before the server is asked: its first word may come before its answer.
        if locked(&self.shared.upstream_subscriptions).insert(uri.to_owned(), of.clone()).is_some() {
            return Ok(());
        }
        let subscribed = gateway.subscribe(&opened.identity, &caller(context), &of.0, &of.1).await;
        if subscribed.is_err() {
            locked(&self.shared.upstream_subscriptions).remove(uri);
        }
        subscribed.map_err(|refusal| answer::refused_resource(uri, refusal.into()))
    }

    /// Whether the session is named without the client's folders.
    fn is_named(&self, context: &RequestContext<RoleServer>) -> bool {
        self.shared.options.session.is_named(context)
    }
}

fn one_page(request: Option<PaginatedRequestParams>, what: &str) -> Result<(), ErrorData> {
    if request.is_some_and(|request| request.cursor.is_some()) {
        return Err(invalid_params(format!("The list of {what} has one page; there is no such cursor.")));
    }
    Ok(())
}

pub(super) fn invalid_params(message: impl Into<std::borrow::Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

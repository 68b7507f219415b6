//! A connection while it lasts.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use planwright_engine::upstream::Arguments;
use planwright_engine::upstream::{
    CallEvent, CallObserver, InputRequired, InputResponses, QuestionKinds, ResourceUpdate, RpcError, ToolOffer,
    UpstreamError, UpstreamRequest, UpstreamResult,
};
use planwright_sandbox::{PipedProgram, Sandbox, SandboxError};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    GetPromptRequest, GetPromptRequestParams, InputRequiredResult, PingRequest, ProtocolVersion, ReadResourceRequest,
    ReadResourceRequestParams, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::{Mutex, broadcast, oneshot};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::call_result;
use crate::call_router::{CallRoute, CallRouter};
use crate::client_handler::{UpstreamHandler, capabilities};
use crate::end_reason::DisconnectReason;
use crate::error_words;
use crate::http;
use crate::options::{Reach, UpstreamServerOptions};
use crate::passthrough;
use crate::program::ServerProgram;
use crate::program_access::{self, Given};
use crate::program_transport::{ProgramTransport, UNREADABLE};
use crate::tool_list;
use crate::watched_transport::WatchedTransport;

/// How long a server may take to answer a ping after a call was cancelled.
const PING_TIME: Duration = Duration::from_secs(5);
/// How often a server may ask during one call.
const MAX_INPUT_ROUNDS: usize = 10;
const NO_ANSWER: &str = "it is none to the question";
const NO_INPUT: &str = "it asks for input during the call, and there is no client that may and can be asked";
/// How long the service may take to end.
const CLOSE_TIME: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Connection {
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, UpstreamHandler>>>,
    stop: CancellationToken,
    /// `None` for a server over HTTP.
    program: Option<ServerProgram>,
    /// Whether the server speaks the protocol without `initialize`.
    is_newest: bool,
    router: Arc<CallRouter>,
    reason: DisconnectReason,
    offer: Mutex<Option<Arc<ToolOffer>>>,
    began: Instant,
    /// Whether a call was answered.
    was_useful: AtomicBool,
}

impl Connection {
    /// Starts or reaches the server. The error says why it failed.
    pub(crate) async fn open(
        options: &UpstreamServerOptions,
        sandbox: &Sandbox,
        updates: &broadcast::Sender<ResourceUpdate>,
    ) -> Result<Self, String> {
        match Self::open_as(options, sandbox, updates, ClientLifecycleMode::Initialize).await {
            // A server of the newest protocol may know no `initialize`.
            Err(OpenError::Refused(text)) => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                let newest = ClientLifecycleMode::Discover { preferred_versions };
                Self::open_as(options, sandbox, updates, newest).await.map_err(|_| text)
            }
            outcome => outcome.map_err(OpenError::describe),
        }
    }

    async fn open_as(
        options: &UpstreamServerOptions,
        sandbox: &Sandbox,
        updates: &broadcast::Sender<ResourceUpdate>,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, OpenError> {
        let router = Arc::new(CallRouter::new(options.name.clone(), updates.clone()));
        let reason = DisconnectReason::default();
        let stop = CancellationToken::new();
        let is_newest = matches!(lifecycle, ClientLifecycleMode::Discover { .. });
        let passed = match &lifecycle {
            ClientLifecycleMode::Initialize => options.passed_requests,
            // Servers of the newest protocol ask by a result of the call; each call says what they may ask.
            _ => QuestionKinds::default(),
        };
        let handler = UpstreamHandler::new(Arc::clone(&router), passed);
        let watched = Watched { router: Arc::clone(&router), reason: reason.clone(), stop: stop.clone(), handler };
        let (service, program) = match &options.reach {
            Reach::Program { command, arguments, program: located, environment, folder: _, home, access: _ } => {
                let Some(located) = located else {
                    let missing = error_words::of_sandbox(&SandboxError::NoProgram(command.clone()));
                    return Err(OpenError::Failed(missing));
                };
                let given = program_access::of_program(&options.reach, sandbox);
                let Some(Given { level, folder, mut access }) = given else {
                    return Err(OpenError::Failed("it is no program".to_owned()));
                };
                // It is found, and finds others, where the person accepted it, whatever `PATH` this process has.
                access.readable.extend(std::env::split_paths(&located.path));
                let has_network = !level.is_restricted() || access.network;
                let program = PipedProgram {
                    name: located.file.clone(),
                    arguments: arguments.clone(),
                    folder,
                    level,
                    environment: program_access::environment(has_network, &located.path, environment),
                    access,
                    grace: Duration::ZERO,
                };
                let (program, stdin, stdout) =
                    ServerProgram::start(sandbox, program, home).await.map_err(OpenError::Failed)?;
                let transport = ProgramTransport::new(stdout, stdin, reason.clone());
                match serve(transport, watched, lifecycle).await {
                    Ok(service) => (service, Some(program)),
                    Err(error) => {
                        let error = error.explained(reason.get(), Some(&program)).await;
                        return Err(if level.is_restricted() { error.limited(&program, has_network) } else { error });
                    }
                }
            }
            Reach::Http { url, headers, written: _ } => {
                let transport = http::transport(url, headers).map_err(OpenError::Failed)?;
                match serve(transport, watched, lifecycle).await {
                    Ok(service) => (service, None),
                    Err(error) => return Err(error.explained(reason.get(), None).await),
                }
            }
        };
        Ok(Self {
            peer: service.peer().clone(),
            stop,
            service: Mutex::new(Some(service)),
            program,
            is_newest,
            router,
            reason,
            offer: Mutex::default(),
            began: Instant::now(),
            was_useful: AtomicBool::new(false),
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.peer.is_transport_closed()
    }

    pub(crate) fn has_news(&self) -> bool {
        self.router.has_news()
    }

    pub(crate) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn was_useful(&self) -> bool {
        self.was_useful.load(Ordering::Acquire)
    }

    /// What the server offers, asked once and again after it said that it changed.
    pub(crate) async fn offer(&self) -> Result<Arc<ToolOffer>, String> {
        let mut kept = self.offer.lock().await;
        let news = self.router.take_news();
        if let Some(offer) = kept.as_ref().filter(|_| !news) {
            return Ok(Arc::clone(offer));
        }
        let has_tools = self.peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        let offer = match has_tools {
            true => match tool_list::read(&self.peer).await {
                Ok(offer) => offer,
                Err(ServiceError::McpError(error)) => {
                    return Err(format!("it does not list its tools: {}", error.message));
                }
                Err(_) => return Err(self.end_reason().await),
            },
            false => ToolOffer::new(Vec::new(), vec!["it offers no tools".to_owned()]),
        };
        let offer = Arc::new(offer);
        *kept = Some(Arc::clone(&offer));
        Ok(offer)
    }

    pub(crate) async fn call(
        self: &Arc<Self>,
        options: &UpstreamServerOptions,
        tool: &str,
        arguments: Arguments,
        observer: &dyn CallObserver,
    ) -> Result<UpstreamResult, UpstreamError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = move |answers: Option<InputResponses>, state| {
            let mut params = params.clone();
            params.input_responses = answers.map(|answers| answers.into_iter().collect());
            params.request_state = state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let result = self.request_with_input(options, request, observer).await?;
        call_result::read(&result).map_err(|reason| unreadable(options, reason))
    }

    pub(crate) async fn read_resource(
        self: &Arc<Self>,
        options: &UpstreamServerOptions,
        uri: &str,
        observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        let params = ReadResourceRequestParams::new(uri);
        let request = move |answers: Option<InputResponses>, state| {
            let mut params = params.clone();
            params.input_responses = answers.map(|answers| answers.into_iter().collect());
            params.request_state = state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        let result = self.request_with_input(options, request, observer).await?;
        passthrough::read(result).map_err(|_| unreadable(options, NO_ANSWER.to_owned()))
    }

    pub(crate) async fn get_prompt(
        self: &Arc<Self>,
        options: &UpstreamServerOptions,
        name: &str,
        arguments: Option<Arguments>,
        observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = arguments;
        let request = move |answers: Option<InputResponses>, state| {
            let mut params = params.clone();
            params.input_responses = answers.map(|answers| answers.into_iter().collect());
            params.request_state = state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        let result = self.request_with_input(options, request, observer).await?;
        passthrough::read(result).map_err(|_| unreadable(options, NO_ANSWER.to_owned()))
    }

    /// Makes a request, again with the client's answers as long as the server asks by its result. `request` makes it from the
    /// answers and from what the server said with its questions.
    async fn request_with_input(
        self: &Arc<Self>,
        options: &UpstreamServerOptions,
        request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
        observer: &dyn CallObserver,
    ) -> Result<ServerResult, UpstreamError> {
        let limit = sleep(options.call_time);
        tokio::pin!(limit);
        let kinds = observer.kinds().and(options.passed_requests);
        // A server hears nothing that it did not ask for.
        let (mut answers, mut state) = (None, None);
        for _ in 0..MAX_INPUT_ROUNDS {
            let asking = request(answers, state);
            let asked = match self.request_once(options, asking, kinds, observer, limit.as_mut()).await? {
                ServerResult::InputRequiredResult(asked) => asked,
                result => return Ok(result),
            };
            let mut answered = ask(options, &asked, kinds, observer)?;
            let answered = tokio::select! {
                answered = &mut answered => answered.map_err(|_| unreadable(options, NO_INPUT.to_owned()))?,
                () = &mut limit => return Err(timed_out(options)),
            };
            (answers, state) = ((!answered.is_empty()).then_some(answered), asked.request_state);
        }
        Err(unreadable(options, format!("it asks for input more than {MAX_INPUT_ROUNDS} times")))
    }

    async fn request_once(
        self: &Arc<Self>,
        options: &UpstreamServerOptions,
        request: ClientRequest,
        kinds: QuestionKinds,
        observer: &dyn CallObserver,
        mut limit: Pin<&mut Sleep>,
    ) -> Result<ServerResult, UpstreamError> {
        let server = || options.name.clone();
        // The route exists before the server can say anything about the call.
        let (route, mut events) = self.router.begin(observer.client());
        let sent = self.peer.send_cancellable_request(request, self.request_options(kinds)).await;
        let Ok(mut handle) = sent else {
            return Err(UpstreamError::NotReached { server: server(), reason: self.end_reason().await });
        };
        route.is_sent(&handle.id, &handle.progress_token);
        let mut cancelling = CancelOnDrop {
            connection: Arc::clone(self),
            request: handle.id.clone(),
            _route: route,
            is_answered: false,
        };
        let answer = loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => observer.on_event(event),
                answer = &mut handle.rx => break answer,
                () = &mut limit => return Err(timed_out(options)),
            }
        };
        cancelling.is_answered = true;
        match answer {
            Ok(Ok(result)) => {
                self.was_useful.store(true, Ordering::Release);
                Ok(result)
            }
            Ok(Err(ServiceError::McpError(error))) if error.message.starts_with(UNREADABLE) => {
                Err(unreadable(options, error.message[UNREADABLE.len()..].trim_start_matches(": ").to_owned()))
            }
            Ok(Err(ServiceError::McpError(error))) => {
                self.was_useful.store(true, Ordering::Release);
                let (code, message) = (error.code.0, error.message.into_owned());
                let refused = RpcError { code, message: message.clone(), data: error.data };
                observer.on_event(CallEvent::Refused(refused));
                Err(UpstreamError::Refused { server: server(), code, message })
            }
            Ok(Err(_)) | Err(_) => Err(UpstreamError::Lost { server: server(), reason: self.end_reason().await }),
        }
    }

    /// Servers of the newest protocol are told with each call what they may ask.
    fn request_options(&self, kinds: QuestionKinds) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        if !self.is_newest || kinds == QuestionKinds::default() {
            return options;
        }
        let mut meta = RequestMetaObject::new();
        meta.set_client_capabilities(capabilities(kinds));
        options.with_meta(meta)
    }

    /// Asks for something beside tools, resources and prompts.
    pub(crate) async fn request(
        &self,
        options: &UpstreamServerOptions,
        request: UpstreamRequest,
    ) -> Result<Value, UpstreamError> {
        // The newest protocol has no such request.
        if self.is_newest && matches!(request, UpstreamRequest::SetLogLevel { .. }) {
            return Ok(Value::Null);
        }
        let server = || options.name.clone();
        match passthrough::ask(&self.peer, request).await {
            Ok(value) => {
                self.was_useful.store(true, Ordering::Release);
                Ok(value)
            }
            Err(ServiceError::McpError(error)) => Err(UpstreamError::Refused {
                server: server(),
                code: error.code.0,
                message: error.message.into_owned(),
            }),
            Err(ServiceError::UnexpectedResponse) => {
                Err(UpstreamError::Unreadable { server: server(), reason: NO_ANSWER.to_owned() })
            }
            Err(_) => Err(UpstreamError::Lost { server: server(), reason: self.end_reason().await }),
        }
    }

    /// Why the connection ended, with the last output of a program.
    pub(crate) async fn end_reason(&self) -> String {
        explain(self.reason.get(), self.program.as_ref()).await
    }

    /// Ends the connection at once.
    pub(crate) fn kill(&self) {
        self.stop.cancel();
        if let Some(program) = &self.program {
            program.kill();
        }
    }

    /// Ends the connection in order: the input of a program is closed, then it is told to end, then it is killed.
    pub(crate) async fn close(&self) {
        if let Some(mut service) = self.service.lock().await.take() {
            let _ = service.close_with_timeout(CLOSE_TIME).await;
        }
        if let Some(program) = &self.program {
            program.end().await;
        }
    }
}

fn timed_out(options: &UpstreamServerOptions) -> UpstreamError {
    UpstreamError::TimedOut { server: options.name.clone(), after: options.call_time }
}

fn unreadable(options: &UpstreamServerOptions, reason: String) -> UpstreamError {
    UpstreamError::Unreadable { server: options.name.clone(), reason }
}

/// Gives the questions of a result to the observer of the call. A question that may not be asked refuses them all.
fn ask(
    options: &UpstreamServerOptions,
    asked: &InputRequiredResult,
    kinds: QuestionKinds,
    observer: &dyn CallObserver,
) -> Result<oneshot::Receiver<InputResponses>, UpstreamError> {
    if !passthrough::asks_only(asked, kinds) {
        return Err(unreadable(options, NO_INPUT.to_owned()));
    }
    let requests = asked.input_requests.iter().flatten();
    let requests = requests.map(|(name, request)| (name.clone(), json!(request)));
    let (questions, answers) = InputRequired::new(requests.collect());
    observer.on_event(CallEvent::InputRequired(questions));
    Ok(answers)
}

type Service = RunningService<RoleClient, UpstreamHandler>;

/// What watches over a connection.
struct Watched {
    router: Arc<CallRouter>,
    reason: DisconnectReason,
    stop: CancellationToken,
    handler: UpstreamHandler,
}

async fn serve<T: Transport<RoleClient> + 'static>(
    transport: T,
    watched: Watched,
    lifecycle: ClientLifecycleMode,
) -> Result<Service, OpenError> {
    let Watched { router, reason, stop, handler } = watched;
    let transport = WatchedTransport::new(transport, router, reason);
    serve_client_with_lifecycle_and_ct(handler, transport, lifecycle, stop).await.map_err(|error| match error {
        ClientInitializeError::JsonRpcError(error) => OpenError::Refused(error.message.into_owned()),
        ClientInitializeError::ConnectionClosed(_) => OpenError::Closed,
        error => OpenError::Failed(error_words::of_start(&error)),
    })
}

/// Why a connection could not be opened.
enum OpenError {
    /// The server answered the first request with an error.
    Refused(String),
    /// The connection was closed before the first answer.
    Closed,
    Failed(String),
}

impl OpenError {
    async fn explained(self, reason: Option<&str>, program: Option<&ServerProgram>) -> Self {
        match self {
            Self::Closed => Self::Failed(explain(reason, program).await),
            other => other,
        }
    }

    /// Says what a program in the sandbox may have wanted in vain.
    fn limited(self, program: &ServerProgram, has_network: bool) -> Self {
        match (self, error_words::sandbox_hint(&program.last_output(), has_network)) {
            (Self::Failed(text), Some(hint)) => Self::Failed(format!("{text} ({hint})")),
            (other, _) => other,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::Refused(text) => format!("it refuses the connection: {text}"),
            Self::Closed => "it closed the connection".to_owned(),
            Self::Failed(text) => text,
        }
    }
}

async fn explain(reason: Option<&str>, program: Option<&ServerProgram>) -> String {
    match (reason, program) {
        (Some(reason), _) => reason.to_owned(),
        (None, Some(program)) => program.exit_message().await,
        (None, None) => "it closed the connection".to_owned(),
    }
}

/// Tells the server when the agent no longer waits for a call. The connection ends a server that then does not answer a ping.
struct CancelOnDrop {
    connection: Arc<Connection>,
    request: RequestId,
    _route: CallRoute,
    is_answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_answered {
            return;
        }
        let (connection, request) = (Arc::clone(&self.connection), self.request.clone());
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(request), Some("the call was stopped".to_owned()));
            let notification = CancelledNotification::new(params);
            let alive = async {
                connection.peer.send_notification(notification.into()).await.ok()?;
                connection.peer.send_request(ClientRequest::PingRequest(PingRequest::default())).await.ok()
            };
            if !matches!(timeout(PING_TIME, alive).await, Ok(Some(_))) && connection.is_open() {
                connection.reason.set("it did not answer after a call was cancelled, so it was ended");
                connection.kill();
            }
        });
    }
}

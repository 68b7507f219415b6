//! The task of each active session in this process. A session without a task is idle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_core::session::SessionIdentity;
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::TaskTracker;

use super::input::{Input, Priority, Request};
use super::progress::{Observers, Progress, ProgressSender, ProgressStream};
use super::task::{self, InputHandler, InputReceiver, InputSender, QueuedInput, SessionTask, TaskOptions};

/// A cheap handle; clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionRegistry {
    queues: Arc<Mutex<HashMap<SessionIdentity, InputSender>>>,
    observers: Observers,
    tasks: TaskTracker,
}

impl SessionRegistry {
    /// Puts the input into the queue of its session, or carries it out at once if it waits for nothing. When this returns, the
    /// input has its place in the order.
    pub(crate) fn submit(
        &self,
        input: Input,
        request: Request,
        handler: &Arc<dyn InputHandler>,
        options: &TaskOptions,
    ) -> ProgressStream {
        let session = request.session().clone();
        let (progress, stream) = ProgressSender::new(session.clone(), self.observers.clone());
        let queued = QueuedInput { input, request, progress };
        match queued.input.priority() {
            Priority::Reads | Priority::Beside => {
                self.tasks.spawn(task::carry_out_beside(queued, Arc::clone(handler)));
                return stream;
            }
            Priority::Waits | Priority::Stops | Priority::MayStop => {}
        }
        let queued = Box::new(queued);
        let mut queues = self.queues();
        let sent = match queues.get(&session) {
            Some(queue) => queue.send(queued),
            None => Err(mpsc::error::SendError(queued)),
        };
        let Err(mpsc::error::SendError(queued)) = sent else { return stream };
        // There is no task, or its runtime was shut down.
        let (queue, inputs) = mpsc::unbounded_channel();
        let _ = queue.send(queued);
        queues.insert(session.clone(), queue);
        drop(queues);
        let task = SessionTask::new(session, inputs, self.clone(), Arc::clone(handler), options.clone());
        self.tasks.spawn(task.run());
        stream
    }

    pub(crate) fn is_active(&self, session: &SessionIdentity) -> bool {
        self.queues().get(session).is_some_and(|queue| !queue.is_closed())
    }

    pub(crate) fn observe(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        self.observers.subscribe(session)
    }

    /// Removes an idle task. Gives an input back that arrived in the meantime; the task is not idle then.
    pub(super) fn deregister(&self, session: &SessionIdentity, inputs: &mut InputReceiver) -> Option<Box<QueuedInput>> {
        // Inputs are sent under this lock, so none arrives between the look and the removal.
        let mut queues = self.queues();
        let arrived = inputs.try_recv().ok();
        if arrived.is_none() {
            queues.remove(session);
        }
        arrived
    }

    /// Waits until no session has a task.
    pub(crate) async fn all_idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<SessionIdentity, InputSender>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Says of work that waits for an endpoint that it waits: a run behind a rate limit, or behind
//! requests that go first, is neither at work nor failed. Whoever watches the queue hears of it, and
//! when it goes on, hears of the step it was at before.

use crate::events::Event;
use crate::llm_log;
use crate::view::operation::{OperationProgress, Progress};
use crate::{Engine, handle};
use async_trait::async_trait;
use domain::{BankId, OperationId};
use llm::{Caps, ChatEvent, ChatReply, ChatRequest, ChatSink, Provider, Window};
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;

/// The step of an operation that waits for its endpoint.
const WAITING_FOR_LLM: &str = "waiting_for_llm";

/// A provider whose waits are told.
pub(super) struct Told {
    inner: Arc<dyn Provider>,
    engine: Weak<handle::Inner>,
}

impl Told {
    pub(super) fn new(inner: Arc<dyn Provider>, engine: &Engine) -> Self {
        Self { inner, engine: Arc::downgrade(&engine.inner) }
    }
}

/// The operation that a request belongs to, and what it was at before it had to wait.
struct Watch<'a> {
    out: &'a mut dyn ChatSink,
    engine: Engine,
    operation: OperationId,
    bank: BankId,
    /// What the step is called where it is not written down.
    usual: &'static str,
    before: Option<Option<Progress>>,
}

impl ChatSink for Watch<'_> {
    fn take(&mut self, event: ChatEvent<'_>) {
        match event {
            ChatEvent::Waiting(_) | ChatEvent::Queued if self.before.is_none() => self.wait(),
            ChatEvent::Resumed => self.go_on(),
            _ => {}
        }
        self.out.take(event);
    }
}

impl Watch<'_> {
    fn wait(&mut self) {
        let before = self.engine.inner.queue.step_of(&self.operation);
        let waiting = Progress {
            stage: WAITING_FOR_LLM.to_owned(),
            processed: before.as_ref().and_then(|progress| progress.processed),
            total: before.as_ref().and_then(|progress| progress.total),
            detail: None,
            stored: before.as_ref().and_then(|progress| progress.stored),
        };
        self.before = Some(before);
        self.engine.inner.queue.set_step(&self.operation, Some(waiting.clone()));
        self.tell(waiting);
    }

    fn go_on(&mut self) {
        let Some(before) = self.before.take() else { return };
        self.engine.inner.queue.set_step(&self.operation, before.clone());
        // Where the step is written down in the row, the next look at the row tells it.
        self.tell(before.unwrap_or_else(|| Progress {
            stage: self.usual.to_owned(),
            processed: None,
            total: None,
            detail: None,
            stored: None,
        }));
    }

    fn tell(&self, progress: Progress) {
        let (id, bank) = (self.operation.clone(), self.bank.clone());
        self.engine.tell(Event::Progress(OperationProgress { id, bank, progress }));
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // A request that is given up while it waits.
        self.go_on();
    }
}

#[async_trait]
impl Provider for Told {
    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, llm::Error> {
        let context = llm_log::context();
        let (Some(inner), Some(operation), Some(bank)) =
            (self.engine.upgrade(), context.operation_id, context.bank)
        else {
            return self.inner.chat(req, out, cancel).await;
        };
        let engine = Engine { inner };
        let usual = if context.operation == "consolidation" { "folding" } else { "reading" };
        let mut watch = Watch { out, engine, operation, bank, usual, before: None };
        self.inner.chat(req, &mut watch, cancel).await
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, llm::Error> {
        self.inner.list_models(cancel).await
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, llm::Error> {
        self.inner.window(cancel).await
    }
}

//! What a run works with, whoever set it going: a queued operation, or a person who wants to see
//! what a refresh would do. The run itself does not know which; only its end does.

use crate::events::Event;
use crate::llm_log::CallContext;
use crate::ops::Running;
use crate::prompts::Prompt;
use crate::report::fault;
use crate::view::operation::{OperationProgress, Progress};
use crate::{Engine, Result};
use domain::{BankId, OperationId, RunId};
use store::operations::Operation;
use tokio_util::sync::CancellationToken;

/// A run on its way.
pub(crate) struct Course<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) bank: &'a BankId,
    /// Stops the run.
    pub(crate) cancel: &'a CancellationToken,
    /// Names the run in its record and in the log of calls.
    pub(crate) run: RunId,
    running: Option<&'a Running>,
}

impl<'a> Course<'a> {
    /// The run of a queued operation.
    pub(crate) fn of(running: &'a Running) -> Self {
        Self {
            engine: &running.engine,
            bank: &running.bank,
            cancel: &running.cancel,
            run: RunId(running.engine.new_id()),
            running: Some(running),
        }
    }

    /// A run that writes nothing.
    pub(crate) fn dry(
        engine: &'a Engine,
        bank: &'a BankId,
        run: RunId,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self { engine, bank, cancel, run, running: None }
    }

    /// The operation that it runs in; none for a dry run.
    pub(crate) fn operation(&self) -> Option<&'a Operation> {
        self.running.map(|running| &running.operation)
    }

    /// What the requests of a part of the run belong to in the log of calls.
    pub(crate) fn calls(&self, prompt: &Prompt) -> CallContext {
        CallContext {
            bank: Some(self.bank.clone()),
            operation: "refresh".to_owned(),
            operation_id: self.operation().map(|operation| operation.id.clone()),
            run_id: Some(self.run.clone()),
            prompt: (prompt.name.to_owned(), prompt.hash()),
        }
    }

    /// Who waits: a person, or the queue by itself.
    pub(crate) fn urgency(&self) -> llm::Urgency {
        match self.operation() {
            Some(operation) if operation.automatic => llm::Urgency::Background,
            _ => llm::Urgency::Asked,
        }
    }

    /// Ends with `cancelled` when a person has asked for it.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(fault("cancelled").into()) } else { Ok(()) }
    }

    /// Says which step the run is at.
    pub(crate) fn tell(&self, stage: &str) {
        self.step(stage, None);
    }

    /// Says which step the run is at, and which part of how many.
    pub(crate) fn step(&self, stage: &str, part: Option<(u32, u32)>) {
        let progress = Progress {
            stage: stage.to_owned(),
            processed: part.map(|(n, _)| n),
            total: part.map(|(_, of)| of),
            detail: None,
            stored: None,
        };
        match self.running {
            Some(running) => running.step(progress),
            // A dry run has no row in the queue; watchers know it by the name of the run.
            None => self.engine.tell(Event::Progress(OperationProgress {
                id: OperationId(self.run.0.clone()),
                bank: self.bank.clone(),
                progress,
            })),
        }
    }
}

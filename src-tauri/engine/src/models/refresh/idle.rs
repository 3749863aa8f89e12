//! A refresh that has nothing to read: seen when its turn comes, and ended in the transaction that
//! takes it from the queue. It ends as every refresh with nothing new does; only the way there is
//! short. Never decides by itself that there is nothing: the plan does.

use super::drafted::Drafted;
use super::finish::Finish;
use super::plan::{self, Plan};
use crate::ops::Means;
use crate::{Engine, Result};
use domain::{Instant, ProposalId, RunId};
use store::operations::{Operation, OperationType};
use store::{OperationKey, ReadTx, State, WriteTx};

/// A refresh that has nothing to read, in one state of the file.
pub(crate) struct Idle {
    operation: OperationKey,
    state: State,
    plan: Box<Plan>,
    extractive: bool,
}

impl Idle {
    /// Looks whether an operation that is about to be taken is one.
    pub(crate) fn look(
        tx: &ReadTx<'_>,
        operation: &Operation,
        means: Means,
        now: Instant,
    ) -> store::Result<Option<Self>> {
        let refreshes = operation.kind == OperationType::RefreshMentalModel;
        let Some(model) = operation.model.as_ref().filter(|_| refreshes) else { return Ok(None) };
        if operation.forced_full || means == Means::Nothing {
            return Ok(None);
        }
        let plan = plan::idle(tx, operation.bank, model, means == Means::Llm, now)?;
        Ok(plan.map(|plan| Self {
            operation: operation.key,
            state: tx.state(),
            plan: Box::new(plan),
            extractive: means == Means::Extractive,
        }))
    }

    /// Whether it is this operation, and nothing was written since the look.
    pub(crate) fn is_of(&self, tx: &WriteTx<'_>, operation: &Operation) -> bool {
        self.operation == operation.key && self.state == tx.state()
    }

    /// Writes its end.
    ///
    /// # Errors
    /// Those of writing.
    pub(crate) fn end(self, tx: &WriteTx<'_>, engine: &Engine, operation: Operation) -> Result<()> {
        let fresh = self.plan.model.clone();
        let drafted = Drafted::nothing(fresh.document.clone(), self.extractive);
        let bank = operation.bank;
        let run = RunId(engine.new_id());
        let proposal = ProposalId(engine.new_id());
        let now = engine.now();
        Finish::of_nothing(*self.plan, drafted, operation, run, proposal, now)
            .write_on(tx, bank, fresh)
            .map(drop)
    }
}

//! What is noted about a review as it goes on: one event for each saved step. The name that a caller
//! gave its request stands in the event, so that the same request sent again finds it.

use super::convert::{Opened, read_changes};
use super::order;
use crate::models::loaded::{from_json, to_json};
use crate::report::fault;
use crate::view::proposal::{ReviewEvent, Turn};
use crate::{Error, Result};
use domain::proposal::{Conflict, Decision, RebaseVerdict};
use domain::{Instant, OperationId, ProposalId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use store::proposals::{self as rows, ProposalEvent};
use store::{ProposalKey, ReadTx, WriteTx};

/// What is told about a step, beside its kind and its moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Detail {
    /// The name of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// Operations it was about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) op_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u32>,
    /// Operations that no longer fit, with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conflicts: Option<Vec<(String, Conflict)>>,
    /// The newer proposal, or the older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<ProposalId>,
    /// The refresh that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<OperationId>,
    /// It has a published version without the structured view.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_structured_output: bool,
}

impl Detail {
    /// About one operation.
    pub(crate) fn of(op_id: &str) -> Self {
        Self { op_ids: vec![op_id.to_owned()], ..Self::default() }
    }

    /// What moving the operations came to.
    pub(crate) fn moved(opened: &Opened, verdicts: &[(u32, RebaseVerdict)]) -> Self {
        let id = |index: &u32| opened.ops.iter().find(|op| op.index == *index);
        let conflicts = verdicts.iter().filter_map(|(index, verdict)| match verdict {
            RebaseVerdict::Conflict(why) => id(index).map(|op| (op.op_id.clone(), *why)),
            RebaseVerdict::Clean | RebaseVerdict::AlreadyDone => None,
        });
        Self { conflicts: Some(conflicts.collect()), ..Self::default() }
    }
}

/// Notes a step.
pub(crate) fn note(
    tx: &WriteTx<'_>,
    key: ProposalKey,
    kind: &str,
    detail: &Detail,
    now: Instant,
) -> store::Result<()> {
    let event = ProposalEvent { at: now, kind: kind.to_owned(), detail: to_json(detail) };
    rows::add_event(tx, key, &event)
}

/// What the request of a caller led to, if it was carried out before.
///
/// # Errors
/// `operation_conflict` when the name was used for another step.
pub(super) fn answered(
    tx: &ReadTx<'_>,
    key: ProposalKey,
    turn: &Turn,
    kind: &str,
) -> Result<Option<Detail>> {
    let Some(request) = &turn.request_id else { return Ok(None) };
    let Some(event) = rows::event_of_request(tx, key, request)? else { return Ok(None) };
    if event.kind != kind {
        return Err(Error::from(fault("operation_conflict")));
    }
    Ok(Some(from_json(&event.detail).unwrap_or_default()))
}

/// The events of a proposal as screens tell them, oldest first. The numbers of its operations are only
/// asked for when an event names one.
fn told(
    tx: &ReadTx<'_>,
    key: ProposalKey,
    numbers: impl FnOnce() -> store::Result<HashMap<String, u32>>,
) -> store::Result<Vec<ReviewEvent>> {
    let events: Vec<(ProposalEvent, Detail)> = rows::events(tx, key)?
        .into_iter()
        .map(|event| {
            let detail = from_json(&event.detail).unwrap_or_default();
            (event, detail)
        })
        .collect();
    let names = |detail: &Detail| {
        !detail.op_ids.is_empty() || detail.conflicts.as_ref().is_some_and(|list| !list.is_empty())
    };
    let named = events.iter().any(|(_, detail)| names(detail));
    let numbers = if named { numbers()? } else { HashMap::new() };
    let number = |id: &String| numbers.get(id).copied();
    let events = events.into_iter().map(|(event, detail)| {
        let conflicts = detail.conflicts.as_ref();
        let mut operations: Vec<u32> = match conflicts {
            Some(list) => list.iter().filter_map(|(id, _)| number(id)).collect(),
            None => detail.op_ids.iter().filter_map(number).collect(),
        };
        operations.sort_unstable();
        ReviewEvent {
            at: event.at,
            kind: event.kind,
            operations,
            decision: detail.decision,
            note: detail.note,
            version: detail.version,
            conflicts: conflicts.map(|list| u32::try_from(list.len()).unwrap_or(u32::MAX)),
        }
    });
    Ok(events.collect())
}

/// The events of a proposal that was opened.
pub(crate) fn of(tx: &ReadTx<'_>, opened: &Opened) -> store::Result<Vec<ReviewEvent>> {
    let numbers = || Ok(order::numbers(&opened.ops, &opened.base, &opened.candidate));
    told(tx, opened.row.head.key, numbers)
}

/// The events of a proposal that need not be opened for anything else.
pub(crate) fn of_key(tx: &ReadTx<'_>, key: ProposalKey) -> store::Result<Vec<ReviewEvent>> {
    told(tx, key, || {
        let (ops, base, candidate) = read_changes(tx, key)?;
        Ok(order::numbers(&ops, &base, &candidate))
    })
}

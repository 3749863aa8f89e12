//! A text that somebody wrote into the published file, offered for review like any other change: as
//! operations of a person over the published document. No language model is asked and no clock moves.

use crate::models::loaded::{Loaded, load_provenance, to_json};
use crate::models::proposals::convert::RunRecord;
use crate::models::proposals::make::{NewProposal, propose};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{RunFacts, derive_ops};
use domain::provenance::PERSON;
use domain::{Instant, ProposalId};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use store::proposals::{
    self, Proposal, ProposalHead, ProposalOrigin, ProposalReason, ProposalState,
};
use store::{BankKey, ModelKey, ReadTx, WriteTx};

/// The text of a file, and by what it is known.
pub(super) struct Outside {
    pub(super) path: String,
    pub(super) hash: Vec<u8>,
    /// Without the header that the program writes.
    pub(super) text: String,
}

/// Where in a proposal's trace the file stands that it came from.
const FILE: &str = "file";

/// The hash of the file that a proposal came from.
fn hash_of(row: &Proposal) -> Option<String> {
    row.trace.get(FILE)?.get("sha256")?.as_str().map(str::to_owned)
}

/// A hash as text.
fn hex(hash: &[u8]) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is known of the proposals about a model's file.
pub(super) struct Offered {
    /// The proposal that waits, whatever it came from, and the hash if it came from the file.
    pub(super) waiting: Option<(ProposalHead, Option<String>)>,
    /// Hash of the outside text that was offered last, and when it was approved or rejected.
    settled: Option<(String, Instant)>,
}

impl Offered {
    pub(super) fn read(tx: &ReadTx<'_>, bank: BankKey, model: ModelKey) -> store::Result<Self> {
        let waiting = proposals::waiting(tx, model)?.map(|row| {
            let hash = hash_of(&row).filter(|_| row.head.origin == ProposalOrigin::File);
            (row.head, hash)
        });
        let decided = |head: &ProposalHead| {
            use ProposalState as S;
            let is_decided = matches!(head.state, S::Approved | S::PartiallyApproved | S::Rejected);
            head.resolved_at.filter(|_| is_decided)
        };
        let mut all = proposals::of_model(tx, model)?;
        all.retain(|head| head.origin == ProposalOrigin::File);
        let last = all.iter().max_by_key(|head| head.number);
        let settled = match last.and_then(|head| Some((head, decided(head)?))) {
            Some((head, at)) => hash_of(&proposals::get(tx, bank, &head.id)?).zip(Some(at)),
            None => None,
        };
        Ok(Self { waiting, settled })
    }

    /// Whether a text was decided on while the file stood as it does since a moment. The same text
    /// that comes back later, or after another one was offered, is somebody's word again.
    pub(super) fn is_settled(&self, hash: &[u8], since: Instant) -> bool {
        self.settled.as_ref().is_some_and(|(of, at)| *of == hex(hash) && *at >= since)
    }

    /// The proposal that offers a text of the file and waits.
    pub(super) fn of_file(&self) -> Option<&ProposalHead> {
        self.waiting.as_ref().filter(|(_, hash)| hash.is_some()).map(|(head, _)| head)
    }

    /// Whether a text shall be offered: it does not wait already, and no proposal of another origin
    /// waits.
    pub(super) fn wants(&self, hash: &[u8]) -> bool {
        !self.waits(hash) && !self.is_taken()
    }

    /// Whether this very text waits for a decision.
    fn waits(&self, hash: &[u8]) -> bool {
        self.waiting.as_ref().is_some_and(|(_, of)| of.as_ref() == Some(&hex(hash)))
    }

    /// Whether a proposal of another origin waits. Only one can, and a refresh that a person is
    /// looking at is not pushed aside by a file.
    fn is_taken(&self) -> bool {
        self.waiting.as_ref().is_some_and(|(_, hash)| hash.is_none())
    }
}

/// Offers a text, unless it waits already or another proposal must be decided first.
pub(super) fn offer(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    id: ProposalId,
    outside: &Outside,
    now: Instant,
) -> store::Result<()> {
    let offered = Offered::read(tx, bank, model)?;
    if !offered.wants(&outside.hash) {
        return Ok(());
    }
    let loaded = Loaded::of(store::models::by_key(tx, model)?);
    let base = &loaded.document;
    let written = reconcile(base, parse(&outside.text));
    let origins = load_provenance(tx, model)?;
    let texts = HashMap::new();
    let known = RunFacts { texts: &texts, provenance: &origins };
    let derived = derive_ops(base, &written, &by_person(base, &written), &known);
    let derived = derived.or_spacing(&written);
    let head = &loaded.row.head;
    let new = NewProposal {
        id,
        model,
        reason: ProposalReason::OutsideEdit,
        origin: ProposalOrigin::File,
        granularity: derived.granularity,
        base_version: head.version,
        base: base.clone(),
        candidate: derived.document,
        ops: derived.ops,
        run: RunRecord {
            cutoff_seq: store::banks::by_key(tx, bank)?.write_seq,
            started_at: Some(now),
            ..RunRecord::default()
        },
        watermark_seq: None,
        scope: to_json(&loaded.scope),
        source_query: head.source_query.clone(),
        settings: loaded.settings(),
        facts: Vec::new(),
        structured_output: None,
        trace: json!({ FILE: { "path": outside.path, "sha256": hex(&outside.hash) } }),
        usage: Value::Object(serde_json::Map::new()),
        warnings: Vec::new(),
        operation: None,
    };
    propose(tx, bank, new, now)
}

/// A person as the evidence of every block that is new or of another text.
fn by_person(base: &Document, written: &Document) -> Vec<(String, Vec<String>)> {
    let is_other = |id: &str, text: &str| base.block(id).is_none_or(|(_, was)| was.text != text);
    let blocks = written.blocks().filter(|block| is_other(&block.id, &block.text));
    blocks.map(|block| (block.id.clone(), vec![PERSON.to_owned()])).collect()
}

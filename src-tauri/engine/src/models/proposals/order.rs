//! The order in which operations are shown and numbered: that of the document, whatever the order in
//! which they were made.

use domain::delta::DeltaOp;
use domain::document::Document;
use domain::proposal::ProposalOp;
use std::collections::HashMap;

/// Operations in the order of the document, as positions in `ops`.
pub(crate) fn in_document(ops: &[ProposalOp], base: &Document, candidate: &Document) -> Vec<usize> {
    let places = Places::of(base, candidate);
    let mut order: Vec<usize> = (0..ops.len()).collect();
    order.sort_by_key(|at| (places.of_op(&ops[*at]), ops[*at].index));
    order
}

/// Numbers of the operations that can be decided, from 1, by id.
pub(crate) fn numbers(
    ops: &[ProposalOp],
    base: &Document,
    candidate: &Document,
) -> HashMap<String, u32> {
    let order = in_document(ops, base, candidate);
    let decidable = order.into_iter().map(|at| &ops[at]).filter(|op| op.is_decidable());
    decidable.zip(1..).map(|(op, number)| (op.op_id.clone(), number)).collect()
}

/// Where elements stand: those of the candidate by their place, those that are gone just behind the
/// element before them that is still there.
struct Places {
    places: HashMap<String, (usize, usize)>,
}

impl Places {
    fn of(base: &Document, candidate: &Document) -> Self {
        let mut places = HashMap::new();
        for (at, name) in elements(candidate).into_iter().enumerate() {
            places.insert(name, (at + 1, 0));
        }
        let mut last = (0, 0);
        for name in elements(base) {
            match places.get(&name) {
                Some(place) => last = *place,
                None => {
                    last.1 += 1;
                    places.insert(name, last);
                }
            }
        }
        Self { places }
    }

    fn of_op(&self, op: &ProposalOp) -> (usize, usize) {
        let made = op.created_block_ids.first().map(|id| block(id));
        let named = match &op.op {
            DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
                Some(block(block_id))
            }
            DeltaOp::AddSection { .. } => op.assigned_id.as_deref().map(section),
            DeltaOp::RemoveSection { section_id }
            | DeltaOp::RenameSection { section_id, .. }
            | DeltaOp::ReplaceSectionBlocks { section_id, .. } => Some(section(section_id)),
            DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } => {
                op.merged_into_block_id.as_deref().map(block).or(made)
            }
        };
        let place = named.and_then(|name| self.places.get(&name).copied());
        place.unwrap_or((usize::MAX, 0))
    }
}

fn section(id: &str) -> String {
    format!("section {id}")
}

fn block(id: &str) -> String {
    format!("block {id}")
}

fn elements(document: &Document) -> Vec<String> {
    let mut names = Vec::new();
    for part in &document.sections {
        names.push(section(&part.id));
        names.extend(part.blocks.iter().map(|part| block(&part.id)));
    }
    names
}

//! The tree as screens show it. Reads only.

use crate::models::show::Around;
use crate::view::model::ModelRow;
use crate::view::page::{NodeKind, PageFields, TreeNode};
use domain::trigger::StatedTrigger;
use domain::{Instant, NodeId, page};
use std::collections::{HashMap, HashSet};
use store::kb::{self, Node};
use store::models::{self, ModelHead};
use store::tag_sets::TagSets;
use store::{BankKey, ModelKey, NodeKey, ReadTx};

/// All nodes of a bank in reading order.
pub(super) fn read(tx: &ReadTx<'_>, bank: BankKey, now: Instant) -> store::Result<Vec<TreeNode>> {
    let nodes = kb::list(tx, bank)?;
    let ids: HashMap<NodeKey, NodeId> =
        nodes.iter().map(|node| (node.key, node.id.clone())).collect();
    let rows = rows(tx, bank, &nodes, now)?;
    let places: Vec<_> = nodes.iter().map(|node| (node.key, node.parent)).collect();
    let shown = page::walk(&places).into_iter().map(|(at, depth)| {
        let node = &nodes[at];
        let parent_id = node.parent.and_then(|key| ids.get(&key)).cloned();
        let page = node.model.and_then(|model| rows.get(&model));
        TreeNode {
            id: node.id.clone(),
            kind: match node.kind {
                kb::NodeKind::Folder => NodeKind::Folder,
                kb::NodeKind::Page => NodeKind::Page,
            },
            name: node.name.clone(),
            parent_id,
            depth,
            sort_order: node.sort_order,
            managed: node.managed,
            timestamp: match page {
                Some((_, row)) => row.last_refreshed_at,
                None => Some(node.updated_at),
            },
            page: page.map(|(head, row)| fields(head, row)),
        }
    });
    Ok(shown.collect())
}

/// The models of pages with their rows.
fn rows(
    tx: &ReadTx<'_>,
    bank: BankKey,
    nodes: &[Node],
    now: Instant,
) -> store::Result<HashMap<ModelKey, (ModelHead, ModelRow)>> {
    let pages: HashSet<ModelKey> = nodes.iter().filter_map(|node| node.model).collect();
    let (all, _) = models::list(tx, bank, &TagSets::All, None, u32::MAX)?;
    let heads: Vec<ModelHead> = all.into_iter().filter(|head| pages.contains(&head.key)).collect();
    let around = Around::read(tx, bank, &heads, now)?;
    heads
        .into_iter()
        .map(|head| {
            let row = around.row(tx, bank, &head)?;
            Ok((head.key, (head, row)))
        })
        .collect()
}

fn fields(head: &ModelHead, row: &ModelRow) -> PageFields {
    let is_stale = |reason: &String| reason == "never_refreshed" || reason == "scope_changed";
    PageFields {
        mental_model_id: row.id.clone(),
        description: row.source_query.clone(),
        tags: row.tags.clone(),
        trigger: StatedTrigger::from_stored(&head.trigger).0.effective(),
        is_stale: row.refresh_reasons.iter().any(is_stale),
        refresh_reasons: row.refresh_reasons.clone(),
        state: row.state,
        review: row.review,
        open_proposal: row.open_proposal.clone(),
        version: row.version,
        placeholder: row.placeholder,
    }
}

//! Changing the tree: each change is one transaction over nodes and models together.

use crate::handle::write_bank;
use crate::models::lifecycle::{
    self, cancel_work, checked_over, fresh_id, new_refresh, ready_update, write_update,
};
use crate::report::fault;
use crate::view::model::{ModelPatch, NewModel};
use crate::view::page::{
    ChangedNode, CreatedPage, NewFolder, NewPage, NodePatch, NodePlace, TreeNode,
};
use crate::{Engine, Error, Result, ops};
use domain::model::{CreateDefaults, PAGE_MAX_TOKENS};
use domain::trigger::StatedTrigger;
use domain::{BankId, FieldFault, ModelId, NodeId};
use store::kb::{self, NewNode, Node, NodeKind};
use store::versions::VersionCause;
use store::{BankKey, NodeKey, ReadTx, WriteTx};
use tokio_util::sync::CancellationToken;

pub(super) fn node_id(engine: &Engine, prefix: &str) -> NodeId {
    NodeId(format!("{prefix}-{}", engine.new_id().replace('-', "")))
}

/// A name without the blanks around it.
fn named(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() {
        let field = FieldFault::blank("name");
        return Err(fault("invalid_request").fields(vec![field]).into());
    }
    Ok(name.to_owned())
}

pub(super) fn folder_key(
    tx: &ReadTx<'_>,
    bank: BankKey,
    parent: Option<&NodeId>,
) -> store::Result<Option<NodeKey>> {
    parent.map(|id| kb::folder(tx, bank, id)).transpose()
}

pub(super) async fn folder(engine: &Engine, bank: &BankId, input: NewFolder) -> Result<TreeNode> {
    let name = named(&input.name)?;
    let (id, now) = (node_id(engine, "kf"), engine.now());
    let wanted = id.clone();
    write_bank(engine, bank, "create_folder", move |tx, key| {
        let parent = folder_key(tx, key, input.parent_id.as_ref())?;
        let new = NewNode { id, kind: NodeKind::Folder, name, parent, model: None };
        kb::insert(tx, key, &new, now)
    })
    .await?;
    shown(engine, bank, &wanted).await
}

/// A node as it stands.
async fn shown(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<TreeNode> {
    let all = super::tree(engine, bank).await?;
    let found = all.into_iter().find(|node| node.id == *id);
    found.ok_or_else(|| fault("node_not_found").into())
}

pub(super) async fn page(engine: &Engine, bank: &BankId, input: NewPage) -> Result<CreatedPage> {
    let parent = input.parent_id;
    let model = NewModel {
        id: None,
        name: input.name,
        source_query: input.source_query,
        tags: input.tags,
        max_tokens: input.max_tokens,
        trigger: input.trigger,
        review: input.review,
        content: input.content,
    };
    let of_bank = lifecycle::defaults(engine, bank).await?;
    let defaults = CreateDefaults { max_tokens: PAGE_MAX_TOKENS, ..of_bank };
    let (checked, _) = checked_over(&model, defaults, &StatedTrigger::page_defaults())?;
    if checked.content.is_none() {
        crate::models::refresh::ensure_able(engine).await?;
    }
    let content = checked.content.clone().unwrap_or_default();
    let vector =
        lifecycle::vector(engine, &checked.name, &content, &CancellationToken::new()).await?;
    let (page_id, model_id) = (node_id(engine, "kp"), fresh_id(engine));
    let operation = new_refresh(engine, &model_id, "create", false);
    let created = CreatedPage {
        page_id: page_id.clone(),
        mental_model_id: model_id.clone(),
        operation: checked.content.is_none().then(|| operation.id.clone()),
    };
    let now = engine.now();
    write_bank(engine, bank, "create_page", move |tx, key| {
        let parent = folder_key(tx, key, parent.as_ref())?;
        let model =
            lifecycle::insert(tx, key, &model_id, &checked, vector, VersionCause::Created, now)?;
        let name = checked.name.clone();
        let new = NewNode { id: page_id, kind: NodeKind::Page, name, parent, model: Some(model) };
        kb::insert(tx, key, &new, now)?;
        if checked.content.is_none() {
            store::operations::submit(tx, key, &operation, now)?;
        }
        Ok(())
    })
    .await?;
    ops::wake(engine);
    Ok(created)
}

pub(super) async fn adopt(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    place: NodePlace,
) -> Result<TreeNode> {
    let (id, now, model) = (node_id(engine, "kp"), engine.now(), model.clone());
    let made = id.clone();
    let store = engine.store();
    let wanted = bank.clone();
    store
        .write_as("adopt_model", move |tx| -> Result<()> {
            let key = store::banks::key(tx, &wanted)?;
            let head = store::models::get(tx, key, &model)?.head;
            if kb::of_model(tx, head.key)?.is_some() {
                let text = "It is a page already: move that one.";
                let field = FieldFault::new("mental_model_id", "id_taken", text);
                return Err(fault("invalid_request").fields(vec![field]).into());
            }
            let parent = folder_key(tx, key, place.parent_id.as_ref())?;
            let new = NewNode {
                id: made,
                kind: NodeKind::Page,
                name: head.name,
                parent,
                model: Some(head.key),
            };
            let id = new.id.clone();
            kb::insert(tx, key, &new, now)?;
            if let Some(position) = place.position {
                let node = kb::get(tx, key, &id)?;
                kb::put_at(tx, key, &node, position)?;
            }
            Ok(())
        })
        .await?;
    shown(engine, bank, &id).await
}

pub(super) async fn release(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<()> {
    let (bank, wanted) = (bank.clone(), id.clone());
    engine
        .store()
        .write_as("release_page", move |tx| -> Result<()> {
            let key = store::banks::key(tx, &bank)?;
            let node = kb::get(tx, key, &wanted)?;
            if node.kind == NodeKind::Folder {
                let text = "A folder has no document of its own: delete it instead.";
                let field = FieldFault::new("id", "type", text);
                return Err(fault("invalid_request").fields(vec![field]).into());
            }
            Ok(kb::release(tx, key, &node)?)
        })
        .await
}

pub(super) async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &NodeId,
    patch: NodePatch,
) -> Result<ChangedNode> {
    let NodePatch { name, place, source_query, tags, max_tokens, trigger, review } = patch;
    let name = name.as_deref().map(named).transpose()?;
    let (wanted, now) = (id.clone(), engine.now());
    let model = crate::handle::read_bank(engine, bank, move |tx, key| {
        let node = kb::get(tx, key, &wanted)?;
        let head = node.model.map(|model| store::models::by_key(tx, model)).transpose()?;
        Ok(head.map(|model| model.head))
    })
    .await?;
    let settings =
        ModelPatch { name: name.clone(), source_query, tags, max_tokens, trigger, review };
    let ready = match &model {
        Some(head) => {
            Some((head.id.clone(), ready_update(engine, bank, &head.id, settings).await?))
        }
        None if ModelPatch { name: None, ..settings } == ModelPatch::default() => None,
        None => return Err(for_pages_only()),
    };
    let states = name.is_some() || place.is_some();
    if !states && ready.as_ref().is_none_or(|(_, ready)| ready.is_empty()) {
        return Err(fault("nothing_to_change").into());
    }
    let asks = ready.as_ref().and_then(|(_, ready)| ready.source_query());
    let asks_anew = model.as_ref().zip(asks).is_some_and(|(head, asks)| head.source_query != asks);
    if asks_anew {
        crate::models::refresh::ensure_able(engine).await?;
    }
    let refresh = model.as_ref().map(|head| new_refresh(engine, &head.id, "manual_refresh", false));
    let wanted = id.clone();
    let operation = write_bank(engine, bank, "update_node", move |tx, key| {
        let node = kb::get(tx, key, &wanted)?;
        put(tx, key, &node, name.as_deref(), place.as_ref(), now)?;
        let Some((model, ready)) = ready.filter(|(_, ready)| !ready.is_empty()) else {
            return Ok(None);
        };
        let updated = write_update(tx, key, &model, ready, now)?;
        match refresh.filter(|_| updated.asks_anew) {
            Some(new) => {
                let submitted = store::operations::submit(tx, key, &new, now)?;
                Ok(Some(submitted.operation().id.clone()))
            }
            None => Ok(None),
        }
    })
    .await?;
    ops::wake(engine);
    Ok(ChangedNode { node: shown(engine, bank, id).await?, operation })
}

fn for_pages_only() -> Error {
    let text = "A folder has a name and a place only.";
    let field = FieldFault::new("source_query", "unknown_key", text);
    fault("invalid_request").fields(vec![field]).into()
}

/// Name and place of a node, together, so that only the end of it must be in order.
fn put(
    tx: &WriteTx<'_>,
    bank: BankKey,
    node: &Node,
    name: Option<&str>,
    place: Option<&NodePlace>,
    now: domain::Instant,
) -> store::Result<()> {
    if name.is_none() && place.is_none() {
        return Ok(());
    }
    let parent = match place {
        Some(place) => Some(folder_key(tx, bank, place.parent_id.as_ref())?),
        None => None,
    };
    kb::change(tx, bank, node, name, parent, now)?;
    if let Some(position) = place.and_then(|place| place.position) {
        let moved = kb::get(tx, bank, &node.id)?;
        kb::put_at(tx, bank, &moved, position)?;
    }
    Ok(())
}

pub(super) async fn delete(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<()> {
    let (wanted, now) = (id.clone(), engine.now());
    let stopped = write_bank(engine, bank, "delete_node", move |tx, key| {
        let node = kb::get(tx, key, &wanted)?;
        let mut stopped = Vec::new();
        for model in kb::models_within(tx, key, node.key)? {
            stopped.extend(cancel_work(tx, key, &model, now)?);
        }
        kb::delete(tx, key, &wanted)?;
        Ok(stopped)
    })
    .await?;
    for operation in stopped {
        ops::stop(engine, &operation);
    }
    Ok(())
}

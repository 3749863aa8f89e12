//! The knowledge base: folders and pages of a bank. Names are unique in their folder, a parent is a
//! folder, no folder lies inside itself; all of that is held here. What a page says belongs to its
//! model.

use domain::page::{is_within, name_key};
use domain::time::to_millis;
use domain::{CacheTag, Instant, ModelId, NodeId};
use rusqlite::{Row, params};

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ModelKey, NodeKey};
use crate::tx::{ReadTx, WriteTx};
use crate::{models, row};

row::words! {
    /// What a node is.
    NodeKind {
        /// It holds other nodes.
        Folder = "folder",
        /// It owns a model.
        Page = "page",
    }
}

/// A folder or page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its key.
    pub key: NodeKey,
    /// Its id, unique in the file.
    pub id: NodeId,
    /// What it is.
    pub kind: NodeKind,
    /// Its name.
    pub name: String,
    /// The folder it lies in; none at the root.
    pub parent: Option<NodeKey>,
    /// The model of a page.
    pub model: Option<ModelKey>,
    /// Its place among its siblings, ascending.
    pub sort_order: u32,
    /// Whether something else than a person keeps it.
    pub managed: bool,
    /// When it was made.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

const NODE: &str = "id, uid, kind, name, parent_id, model_id, sort_order, managed, created_at, \
    updated_at";

fn read(r: &Row<'_>) -> rusqlite::Result<Node> {
    Ok(Node {
        key: r.get(0)?,
        id: NodeId(r.get(1)?),
        kind: r.get(2)?,
        name: r.get(3)?,
        parent: r.get(4)?,
        model: r.get(5)?,
        sort_order: row::count(r, 6)?,
        managed: r.get(7)?,
        created_at: row::at(r, 8)?,
        updated_at: row::at(r, 9)?,
    })
}

/// All nodes of a bank, siblings in their order.
pub fn list(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<Node>> {
    tx.list(
        &format!("SELECT {NODE} FROM kb_node WHERE bank_id = ?1 ORDER BY sort_order, id"),
        [bank],
        read,
    )
}

/// A node by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &NodeId) -> Result<Node> {
    tx.find(
        &format!("SELECT {NODE} FROM kb_node WHERE uid = ?1 AND bank_id = ?2"),
        (&id.0, bank),
        read,
    )?
    .ok_or_else(|| Error::not_found(Thing::Node, &id.0))
}

/// The page that owns a model, if one does.
pub fn of_model(tx: &ReadTx<'_>, model: ModelKey) -> Result<Option<Node>> {
    tx.find(&format!("SELECT {NODE} FROM kb_node WHERE model_id = ?1"), [model], read)
}

/// Whether any bank of the file has a node of an id.
pub fn is_used(tx: &ReadTx<'_>, id: &NodeId) -> Result<bool> {
    let found =
        tx.find("SELECT id FROM kb_node WHERE uid = ?1", [&id.0], |r| r.get::<_, i64>(0))?;
    Ok(found.is_some())
}

/// The model of a page; none for a folder.
pub fn model_of(tx: &ReadTx<'_>, node: NodeKey) -> Result<Option<ModelKey>> {
    let found = tx.find("SELECT model_id FROM kb_node WHERE id = ?1", [node], |r| r.get(0))?;
    Ok(found.flatten())
}

/// The folder that a node is put into.
///
/// # Errors
/// `BadParent`.
pub fn folder(tx: &ReadTx<'_>, bank: BankKey, id: &NodeId) -> Result<NodeKey> {
    match get(tx, bank, id) {
        Ok(node) if node.kind == NodeKind::Folder => Ok(node.key),
        Ok(_) | Err(Error::NotFound { .. }) => Err(Error::BadParent),
        Err(error) => Err(error),
    }
}

/// What a new node is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNode {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    pub kind: NodeKind,
    /// Its name, trimmed.
    pub name: String,
    /// The folder it is put into; none for the root.
    pub parent: Option<NodeKey>,
    /// The model of a page.
    pub model: Option<ModelKey>,
}

/// Makes a node, the last of its folder.
///
/// # Errors
/// `NameTaken`.
pub fn insert(tx: &WriteTx<'_>, bank: BankKey, new: &NewNode, now: Instant) -> Result<NodeKey> {
    free_name(tx, bank, new.parent, &new.name, None)?;
    let key = NodeKey(tx.insert(
        "INSERT INTO kb_node (uid, bank_id, kind, name, name_key, parent_id, model_id, sort_order,
             created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
                 (SELECT coalesce(max(sort_order) + 1, 0) FROM kb_node
                  WHERE bank_id = ?2 AND parent_id IS ?6), ?8, ?8)",
        params![
            new.id.0,
            bank,
            new.kind,
            new.name,
            name_key(&new.name),
            new.parent,
            new.model,
            to_millis(now),
        ],
    )?);
    changed(tx, bank)?;
    Ok(key)
}

/// Refuses a name that another node of the folder has.
fn free_name(
    tx: &ReadTx<'_>,
    bank: BankKey,
    parent: Option<NodeKey>,
    name: &str,
    except: Option<NodeKey>,
) -> Result<()> {
    let other: Option<NodeKey> = tx.find(
        "SELECT id FROM kb_node
         WHERE bank_id = ?1 AND coalesce(parent_id, 0) = coalesce(?2, 0) AND name_key = ?3",
        (bank, parent, name_key(name)),
        |r| r.get(0),
    )?;
    match other {
        Some(other) if Some(other) != except => Err(Error::NameTaken { name: name.to_owned() }),
        _ => Ok(()),
    }
}

/// Gives a node another name, another folder (`Some(None)` is the root), or both at once. In another
/// folder it becomes the last.
///
/// # Errors
/// `Cycle`, `NameTaken`.
pub fn change(
    tx: &WriteTx<'_>,
    bank: BankKey,
    node: &Node,
    name: Option<&str>,
    parent: Option<Option<NodeKey>>,
    now: Instant,
) -> Result<()> {
    let folder = parent.unwrap_or(node.parent);
    if let Some(folder) = folder {
        let tree: Vec<_> = list(tx, bank)?.iter().map(|node| (node.key, node.parent)).collect();
        if is_within(&tree, folder, node.key) {
            return Err(Error::Cycle);
        }
    }
    let name = name.unwrap_or(&node.name);
    free_name(tx, bank, folder, name, Some(node.key))?;
    // One statement: the name must be free where the node shall lie, not on the way.
    tx.run(
        "UPDATE kb_node SET name = ?2, name_key = ?3, updated_at = ?4, parent_id = ?5,
             sort_order = CASE WHEN parent_id IS ?5 THEN sort_order ELSE
                 (SELECT coalesce(max(n.sort_order) + 1, 0) FROM kb_node n
                  WHERE n.bank_id = ?6 AND n.parent_id IS ?5) END
         WHERE id = ?1",
        (node.key, name, name_key(name), to_millis(now), folder, bank),
    )?;
    changed(tx, bank)
}

/// Puts a node at a place among its siblings, counted from 0; beyond the last it becomes the last.
pub fn put_at(tx: &WriteTx<'_>, bank: BankKey, node: &Node, place: u32) -> Result<()> {
    let mut siblings: Vec<NodeKey> = list(tx, bank)?
        .iter()
        .filter(|other| other.parent == node.parent && other.key != node.key)
        .map(|other| other.key)
        .collect();
    let place = usize::try_from(place).unwrap_or(usize::MAX).min(siblings.len());
    siblings.insert(place, node.key);
    for (order, key) in (0_i64..).zip(siblings) {
        tx.run(
            "UPDATE kb_node SET sort_order = ?2 WHERE id = ?1 AND sort_order <> ?2",
            (key, order),
        )?;
    }
    changed(tx, bank)
}

/// Notes that something about a page changed.
pub fn touch(tx: &WriteTx<'_>, bank: BankKey, node: &Node, now: Instant) -> Result<()> {
    tx.run("UPDATE kb_node SET updated_at = ?2 WHERE id = ?1", (node.key, to_millis(now)))?;
    changed(tx, bank)
}

/// The models of a node and of everything in it. Ends in a stored cycle too.
pub fn models_within(tx: &ReadTx<'_>, bank: BankKey, node: NodeKey) -> Result<Vec<ModelId>> {
    tx.list(
        "WITH RECURSIVE inside (id) AS (
             SELECT id FROM kb_node WHERE id = ?2 AND bank_id = ?1
             UNION SELECT n.id FROM inside CROSS JOIN kb_node n ON n.parent_id = inside.id)
         SELECT m.uid FROM inside CROSS JOIN kb_node n ON n.id = inside.id
         CROSS JOIN mental_model m ON m.id = n.model_id
         ORDER BY n.id",
        (bank, node),
        |r| r.get(0).map(ModelId),
    )
}

/// Removes a node with everything in it and the models of its pages.
///
/// # Errors
/// `NotFound`.
pub fn delete(tx: &WriteTx<'_>, bank: BankKey, id: &NodeId) -> Result<()> {
    let node = get(tx, bank, id)?;
    for model in models_within(tx, bank, node.key)? {
        models::delete(tx, bank, &model)?;
    }
    tx.run("DELETE FROM kb_node WHERE id = ?1", [node.key])?;
    changed(tx, bank)
}

/// Takes a page out of the tree and leaves its model.
pub fn release(tx: &WriteTx<'_>, bank: BankKey, page: &Node) -> Result<()> {
    tx.run("DELETE FROM kb_node WHERE id = ?1", [page.key])?;
    changed(tx, bank)
}

/// The tree is shown beside the models, so whoever shows models looks again.
fn changed(tx: &WriteTx<'_>, bank: BankKey) -> Result<()> {
    tx.changed(bank, CacheTag::Models, None)
}

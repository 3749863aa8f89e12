//! The tree of pages, and lists of versions that read no texts.

use domain::{ModelId, NodeId};
use serde_json::json;

use super::models::new_model;
use super::*;
use crate::kb::{self, NewNode, NodeKind};
use crate::versions::{self, Actor, Version, VersionCause, VersionHead};
use crate::{Error, NodeKey, models};

fn node(id: &str, kind: NodeKind, parent: Option<NodeKey>) -> NewNode {
    NewNode { id: NodeId(id.into()), kind, name: id.into(), parent, model: None }
}

#[tokio::test]
async fn a_tree_stays_a_tree_and_goes_with_its_models() {
    let (_folder, store, bank) = bank().await;
    store
        .write("tree", move |tx| {
            let a = kb::insert(tx, bank, &node("a", NodeKind::Folder, None), t(1))?;
            let b = kb::insert(tx, bank, &node("b", NodeKind::Folder, Some(a)), t(1))?;
            let model = models::insert(tx, bank, &new_model("doc"), t(1))?;
            let page = NewNode { model: Some(model), ..node("p", NodeKind::Page, Some(b)) };
            kb::insert(tx, bank, &page, t(1))?;
            let twice = kb::insert(tx, bank, &node("B", NodeKind::Folder, Some(a)), t(1));
            assert!(matches!(twice, Err(Error::NameTaken { .. })));
            let a = kb::get(tx, bank, &"a".into())?;
            let inside = kb::change(tx, bank, &a, None, Some(Some(b)), t(2));
            assert!(matches!(inside, Err(Error::Cycle)));
            assert!(matches!(kb::folder(tx, bank, &"p".into()), Err(Error::BadParent)));
            assert_eq!(kb::models_within(tx, bank, a.key)?, ["doc".into()]);
            assert_eq!(kb::of_model(tx, model)?.map(|node| node.id), Some("p".into()));
            kb::delete(tx, bank, &"a".into())?;
            assert!(kb::list(tx, bank)?.is_empty());
            assert!(models::find(tx, bank, &"doc".into())?.is_none());
            Ok(())
        })
        .await
        .unwrap();
}

/// Walking up from every node to the root made this grow with the square of the tree.
#[tokio::test]
async fn what_lies_in_a_folder_is_found_from_there_on_down() {
    let (_folder, store, bank) = bank().await;
    store
        .write("tree", move |tx| {
            let mut folder = kb::insert(tx, bank, &node("top", NodeKind::Folder, None), t(1))?;
            let top = folder;
            let outer = models::insert(tx, bank, &new_model("outer"), t(1))?;
            let page = NewNode { model: Some(outer), ..node("o", NodeKind::Page, None) };
            kb::insert(tx, bank, &page, t(1))?;
            for depth in 0..40 {
                let new = node(&format!("f{depth}"), NodeKind::Folder, Some(folder));
                folder = kb::insert(tx, bank, &new, t(1))?;
                let model = models::insert(tx, bank, &new_model(&format!("m{depth}")), t(1))?;
                let page = node(&format!("p{depth}"), NodeKind::Page, Some(folder));
                kb::insert(tx, bank, &NewNode { model: Some(model), ..page }, t(1))?;
            }
            let all: Vec<ModelId> = (0..40).map(|n| ModelId(format!("m{n}"))).collect();
            assert_eq!(kb::models_within(tx, bank, top)?, all);
            let page = kb::get(tx, bank, &"o".into())?;
            assert_eq!(kb::models_within(tx, bank, page.key)?, ["outer".into()]);
            // A stored circle ends all the same.
            tx.run("UPDATE kb_node SET parent_id = ?2 WHERE id = ?1", (top, folder))?;
            assert_eq!(kb::models_within(tx, bank, top)?, all);
            kb::delete(tx, bank, &"top".into())?;
            assert_eq!(kb::list(tx, bank)?.len(), 1);
            assert!(models::find(tx, bank, &"outer".into())?.is_some());
            Ok(())
        })
        .await
        .unwrap();
}

fn version(number: u32) -> Version {
    Version {
        head: VersionHead {
            version: number,
            cause: VersionCause::Edit,
            actor: Actor::Person,
            operation: None,
            proposal: None,
            accepted_op_ids: None,
            note: None,
            source_query: "What is known?".into(),
            watermark_seq: None,
            watermark_at: None,
            created_at: t(50),
            pinned: false,
        },
        content: "x".repeat(40_000),
        structure: json!({ "format": 3 }),
        content_hash: vec![1; 32],
        based_on: json!({}),
        basis: None,
        structured_output: None,
        structured_output_version: None,
        reflect_response: None,
        trace: None,
        settings: json!({}),
    }
}

#[tokio::test]
async fn a_list_of_versions_reads_none_of_their_texts() {
    let (_folder, store, bank) = bank().await;
    store
        .write("versions", move |tx| {
            let model = models::insert(tx, bank, &new_model("doc"), t(1))?;
            for number in 1..=3 {
                versions::append(tx, bank, model, &version(number))?;
                versions::set_details(tx, model, number, &json!({ "added": 1 }), &json!([number]))?;
            }
            versions::set_note(tx, bank, model, 2, Some("kept"))?;
            let heads = versions::list(tx, model, None, 10)?;
            let numbers: Vec<u32> = heads.iter().map(|head| head.version).collect();
            assert_eq!((numbers, heads[1].note.as_deref()), (vec![3, 2, 1], Some("kept")));
            assert_eq!(versions::changes(tx, model)?[0], (1, json!({ "added": 1 })));
            assert_eq!(versions::origins(tx, model, 3)?, Some(json!([3])));
            assert_eq!(versions::origins(tx, model, 9)?, None);
            for sql in versions::lists() {
                let mut explain = tx.conn().prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                // Parameters stay unbound: a plan does not look at them.
                let mut rows = explain.raw_query();
                let plan: String = rows.next()?.unwrap().get(3)?;
                assert!(plan.contains("COVERING INDEX model_version_head"), "{plan}: {sql}");
            }
            Ok(())
        })
        .await
        .unwrap();
}

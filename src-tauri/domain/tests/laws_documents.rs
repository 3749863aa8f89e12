//! The laws of documents, operations and selections, on random cases.

mod generate;

use std::collections::{BTreeSet, HashMap};

use domain::delta::{OpKind, OpStatus};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{ProposalOp, RunFacts, apply_selection, close_selection, record_ops};
use domain::provenance::Provenance;
use generate::{calm_text, run, seeds, wild_text};
use proptest::prelude::*;

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(256);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn recorded(applied: &domain::delta::Applied) -> Vec<ProposalOp> {
    let (texts, provenance) = (HashMap::new(), Provenance::default());
    record_ops(applied, &RunFacts { texts: &texts, provenance: &provenance })
}

fn indexes(ops: &[ProposalOp]) -> BTreeSet<u32> {
    ops.iter().filter(|op| op.status == OpStatus::Applied).map(|op| op.index).collect()
}

/// The operations of `ops` that a bit mask picks.
fn picked(ops: &[ProposalOp], mask: u16) -> BTreeSet<u32> {
    indexes(ops).into_iter().filter(|index| (mask >> (index % 16)) & 1 == 1).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_text_survives(text in wild_text(), odd in "[#`~<>!|\\-/a \t\r\n\u{2028}\u{85}\u{c}\u{a0}\u{3000}é]{0,60}") {
        prop_assert_eq!(parse(&text).render(), text);
        prop_assert_eq!(parse(&odd).render(), odd);
    }

    #[test]
    fn ids_are_unique(text in wild_text()) {
        let document = parse(&text);
        let sections: BTreeSet<_> = document.sections.iter().map(|s| &s.id).collect();
        let blocks: BTreeSet<_> = document.blocks().map(|b| &b.id).collect();
        prop_assert_eq!(sections.len(), document.sections.len());
        prop_assert_eq!(blocks.len(), document.blocks().count());
    }

    #[test]
    fn shape_law(text in wild_text(), seeds in seeds(10)) {
        let base = parse(&text);
        let applied = run(&base, &seeds);
        let again = parse(&applied.document.render());
        prop_assert!(again.same_shape(&applied.document), "{:?}\n{:?}", again, applied.document);
        prop_assert_eq!(again.render(), applied.document.render());
    }

    #[test]
    fn ids_stay_unique_under_operations(text in wild_text(), seeds in seeds(10)) {
        let applied = run(&parse(&text), &seeds);
        let blocks: BTreeSet<_> = applied.document.blocks().map(|b| &b.id).collect();
        prop_assert_eq!(blocks.len(), applied.document.blocks().count());
        let sections: BTreeSet<_> = applied.document.sections.iter().map(|s| &s.id).collect();
        prop_assert_eq!(sections.len(), applied.document.sections.len());
    }

    #[test]
    fn all_gives_the_candidate_and_none_the_base(text in wild_text(), seeds in seeds(10)) {
        let base = parse(&text);
        let applied = run(&base, &seeds);
        let ops = recorded(&applied);
        let all = apply_selection(&base, &ops, &indexes(&ops));
        prop_assert_eq!(&all.document, &applied.document);
        prop_assert_eq!(all.document.render(), applied.document.render());
        let none = apply_selection(&base, &ops, &BTreeSet::new());
        prop_assert_eq!(&none.document, &base);
    }

    #[test]
    fn untouched_elements_stay(text in calm_text(), seeds in seeds(10), mask in any::<u16>()) {
        let base = parse(&text);
        let ops = recorded(&run(&base, &seeds));
        let chosen = close_selection(&ops, &picked(&ops, mask));
        let result = apply_selection(&base, &ops, &chosen).document;
        let touched: BTreeSet<(bool, &str)> = ops
            .iter()
            .filter(|op| chosen.contains(&op.index))
            .flat_map(|op| &op.targets)
            .filter(|target| target.created_by.is_none())
            .map(|target| (target.kind == domain::delta::ElementKind::Section, target.id.as_str()))
            .collect();
        // Operations on a whole section touch all that the section holds when they are applied.
        let whole: BTreeSet<&str> = ops
            .iter()
            .filter(|op| chosen.contains(&op.index))
            .filter(|op| matches!(op.op.kind(), OpKind::RemoveSection | OpKind::ReplaceSectionBlocks))
            .filter_map(|op| op.op.section_id())
            .collect();
        let (before, after) = (elements(&base), elements(&result));
        for (at, element) in before.iter().enumerate() {
            let owner = base.block(element.id).map(|(section, _)| section.id.as_str());
            if touched.contains(&(element.is_section, element.id))
                || (!element.is_section && owner.is_some_and(|owner| whole.contains(owner)))
            {
                continue;
            }
            let now = after.iter().position(|e| e.is_section == element.is_section && e.id == element.id);
            let Some(now) = now else {
                prop_assert!(false, "{} is gone", element.id);
                return Ok(());
            };
            prop_assert_eq!(element.text, after[now].text);
            let next = before.get(at + 1).map(|e| (e.is_section, e.id));
            let next_now = after.get(now + 1).map(|e| (e.is_section, e.id));
            if next == next_now {
                prop_assert_eq!(element.gap, after[now].gap, "gap of {}", element.id);
            }
        }
    }

    #[test]
    fn every_operation_of_a_closed_selection_applies(
        text in wild_text(),
        seeds in seeds(12),
        mask in any::<u16>(),
    ) {
        let base = parse(&text);
        let ops = recorded(&run(&base, &seeds));
        let chosen = close_selection(&ops, &picked(&ops, mask));
        let selected = apply_selection(&base, &ops, &chosen);
        prop_assert_eq!(&selected.failed, &Vec::<u32>::new());
        prop_assert_eq!(selected.ops.len(), chosen.len());
        let again = parse(&selected.document.render());
        prop_assert!(again.same_shape(&selected.document), "the shape law holds for selections");
    }

    #[test]
    fn what_was_not_applied_plays_no_part(
        text in wild_text(),
        seeds in seeds(12),
        mask in any::<u16>(),
    ) {
        let base = parse(&text);
        let ops = recorded(&run(&base, &seeds));
        let chosen = picked(&ops, mask);
        let with_others: BTreeSet<u32> = ops
            .iter()
            .filter(|op| op.status != OpStatus::Applied)
            .map(|op| op.index)
            .chain(chosen.iter().copied())
            .collect();
        let only_applied: Vec<ProposalOp> =
            ops.iter().filter(|op| op.status == OpStatus::Applied).cloned().collect();
        let plain = apply_selection(&base, &ops, &chosen);
        prop_assert_eq!(&plain, &apply_selection(&base, &ops, &with_others));
        prop_assert_eq!(&plain, &apply_selection(&base, &only_applied, &chosen));
    }

    #[test]
    fn the_same_text_reconciles_to_the_same_ids(text in wild_text(), seeds in seeds(8)) {
        let document = run(&parse(&text), &seeds).document;
        let again = reconcile(&document, parse(&document.render()));
        prop_assert_eq!(again, document);
    }

    #[test]
    fn reconciled_ids_are_unique(old in wild_text(), new in wild_text()) {
        let document = reconcile(&parse(&old), parse(&new));
        prop_assert_eq!(document.render(), new);
        let blocks: BTreeSet<_> = document.blocks().map(|b| &b.id).collect();
        prop_assert_eq!(blocks.len(), document.blocks().count());
    }
}

struct Element<'a> {
    is_section: bool,
    id: &'a str,
    text: &'a str,
    gap: &'a str,
}

fn elements(document: &Document) -> Vec<Element<'_>> {
    let mut all = Vec::new();
    for section in &document.sections {
        let (id, text, gap) = (&section.id, &section.raw, &section.gap);
        if section.level > 0 {
            all.push(Element { is_section: true, id, text, gap });
        }
        all.extend(section.blocks.iter().map(|block| Element {
            is_section: false,
            id: &block.id,
            text: &block.text,
            gap: &block.gap,
        }));
    }
    all
}

//! The laws of documents, operations and selections, on random cases.

mod generate;

use std::collections::{BTreeSet, HashMap, HashSet};

use domain::delta::{OpKind, OpStatus, Rules, changes_locked, keep_locked};
use domain::diff::{DiffKind, OpEffect, SpanKind, structural, word_diff};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{
    Decision, Derived, Granularity, OpDecision, ProposalOp, RebaseVerdict, RunFacts,
    apply_selection, close_selection, decide_draft, decide_ops, derive_ops, fold, rebase,
    record_ops,
};
use domain::provenance::Provenance;
use generate::{calm_text, run, run_under, seeds, wild_text};
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
        let selected = apply_selection(&base, &ops, &chosen);
        let result = &selected.document;
        // A removed element's id can come back on a new one.
        let made: BTreeSet<&str> = selected
            .ops
            .iter()
            .flat_map(|op| op.result.created_block_ids.iter().chain(&op.result.assigned_id))
            .map(String::as_str)
            .collect();
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
        let (before, after) = (elements(&base), elements(result));
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
            let is_made = next_now.is_some_and(|next| made.contains(next.1));
            if next == next_now && !is_made {
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

proptest! {
    #![proptest_config(config())]

    #[test]
    fn derived_operations_reproduce_the_candidate(old in calm_text(), new in wild_text()) {
        let base = parse(&old);
        let candidate = reconcile(&base, parse(&new));
        let derived = derive(&base, &candidate);
        prop_assert!(derived.document.same_shape(&candidate));
        if derived.granularity == Granularity::Ops {
            let all = apply_selection(&base, &derived.ops, &indexes(&derived.ops));
            prop_assert_eq!(&all.document, &derived.document);
            prop_assert_eq!(&all.failed, &Vec::<u32>::new());
            for element in candidate.blocks() {
                prop_assert!(derived.document.block(&element.id).is_some(), "ids are kept");
            }
        }
    }

    #[test]
    fn small_changes_can_be_decided_in_parts(text in calm_text(), seeds in seeds(3)) {
        // Operations write one line end, so a moved block with several cannot be put back exactly.
        let text = text.replace('\r', "");
        let base = parse(&text);
        let changed = run(&base, &seeds).document;
        let candidate = reconcile(&base, parse(&changed.render()));
        let derived = derive(&base, &candidate);
        let same_start = match (base.sections.first(), candidate.sections.first()) {
            (Some(old), Some(new)) => old.level == new.level,
            _ => true,
        };
        let moved_start = candidate.sections.first().is_some_and(|first| {
            base.sections.iter().skip(1).any(|section| section.id == first.id)
        }) || base.sections.first().is_some_and(|first| {
            candidate.sections.iter().skip(1).any(|section| section.id == first.id)
        });
        prop_assert!(derived.granularity == Granularity::Ops || !same_start || moved_start);
    }

    #[test]
    fn selections_of_derived_operations_apply(
        old in calm_text(),
        new in calm_text(),
        mask in any::<u16>(),
    ) {
        let base = parse(&old);
        let derived = derive(&base, &reconcile(&base, parse(&new)));
        let chosen = close_selection(&derived.ops, &picked(&derived.ops, mask));
        let selected = apply_selection(&base, &derived.ops, &chosen);
        prop_assert_eq!(&selected.failed, &Vec::<u32>::new());
        prop_assert!(parse(&selected.document.render()).same_shape(&selected.document));
    }

    #[test]
    fn rebase_onto_the_same_document_is_clean(text in wild_text(), seeds in seeds(10)) {
        let base = parse(&text);
        let applied = run(&base, &seeds);
        let ops = recorded(&applied);
        let rebased = rebase(&ops, &base, &base, &BTreeSet::new());
        prop_assert!(rebased.verdicts.iter().all(|(_, v)| *v == RebaseVerdict::Clean), "{:?}", rebased.verdicts);
        prop_assert_eq!(&rebased.candidate, &applied.document);
        prop_assert_eq!(&rebased.ops, &ops);
    }

    #[test]
    fn what_rebase_calls_clean_applies(
        text in calm_text(),
        seeds in seeds(8),
        edits in seeds(4),
        mask in any::<u16>(),
    ) {
        let base = parse(&text);
        let ops = recorded(&run(&base, &seeds));
        let edited = run(&base, &edits).document;
        let now = reconcile(&base, parse(&edited.render()));
        let rebased = rebase(&ops, &base, &now, &BTreeSet::new());
        let chosen = close_selection(&rebased.ops, &picked(&rebased.ops, mask));
        let selected = apply_selection(&now, &rebased.ops, &chosen);
        prop_assert_eq!(&selected.failed, &Vec::<u32>::new());
        let live: BTreeSet<u32> =
            rebased.ops.iter().filter(|op| op.is_live()).map(|op| op.index).collect();
        let all = apply_selection(&now, &rebased.ops, &live);
        prop_assert_eq!(&all.document, &rebased.candidate);
        prop_assert!(parse(&all.document.render()).same_shape(&all.document));
        // Moving again, onto the same document, changes nothing more.
        let again = rebase(&rebased.ops, &now, &now, &BTreeSet::new());
        prop_assert_eq!(&again.candidate, &rebased.candidate);
    }

    #[test]
    fn a_draft_equal_to_the_candidate_accepts_everything(text in calm_text(), seeds in seeds(8)) {
        let base = parse(&text);
        let applied = run(&base, &seeds);
        let ops = recorded(&applied);
        let outcome = decide_draft(&base, &applied.document, &ops, &applied.document.render());
        prop_assert_eq!(&outcome.accepted, &indexes(&ops));
        prop_assert!(outcome.person_blocks.is_empty());
        prop_assert_eq!(&outcome.document, &applied.document);
    }

    #[test]
    fn folding_into_the_same_proposal_keeps_every_word(text in calm_text(), seeds in seeds(8), mask in any::<u16>()) {
        let ops = recorded(&run(&parse(&text), &seeds));
        let said: Vec<OpDecision> = ops
            .iter()
            .filter(|op| picked(&ops, mask).contains(&op.index))
            .map(|op| OpDecision {
                op_id: op.op_id.clone(),
                decision: if op.index.is_multiple_of(2) { Decision::Accepted } else { Decision::Rejected },
                note: None,
            })
            .collect();
        let decided = decide_ops(&ops, &said, domain::time::from_millis(5)).expect("decidable");
        let folded = fold(&decided, &ops);
        for (before, after) in decided.iter().zip(&folded) {
            prop_assert_eq!(before.decision, after.decision);
        }
    }

    #[test]
    fn every_change_names_an_operation_and_every_operation_a_change(
        text in calm_text(),
        seeds in seeds(8),
    ) {
        let base = parse(&text);
        let applied = run(&base, &seeds);
        let ops = recorded(&applied);
        let effects = OpEffect::of_ops(&ops);
        let entries = structural(&base, &applied.document, &effects);
        for entry in &entries {
            prop_assert!(entry.kind == DiffKind::Unchanged || !entry.ops.is_empty(), "{entry:?}");
        }
        let named: BTreeSet<u32> = entries.iter().flat_map(|entry| entry.ops.clone()).collect();
        prop_assert!(entries.is_empty() || named == indexes(&ops), "{named:?}");
    }

    #[test]
    fn a_rebuild_keeps_what_is_locked(old in calm_text(), new in calm_text(), mask in any::<u32>()) {
        let base = parse(&old);
        let candidate = reconcile(&base, parse(&new));
        let is_picked = |at: usize| (mask >> (at % 32)) & 1 == 1;
        let blocks = base.blocks().enumerate().filter(|(at, _)| is_picked(*at));
        let sections = base.sections.iter().enumerate().filter(|(at, _)| is_picked(at + 16));
        let locks: HashSet<String> = blocks
            .map(|(_, block)| block.id.clone())
            .chain(sections.map(|(_, section)| section.id.clone()))
            .collect();
        let kept = keep_locked(&base, &candidate, &locks);
        prop_assert!(parse(&kept.render()).same_shape(&kept));
        prop_assert!(!changes_locked(&base, &kept, &locks));
        for section in &base.sections {
            let whole = locks.contains(&section.id);
            for block in section.blocks.iter().filter(|b| whole || locks.contains(&b.id)) {
                let Some((owner, now)) = kept.block(&block.id) else {
                    return Err(TestCaseError::fail(format!("{} is gone", block.id)));
                };
                prop_assert_eq!(&now.text, &block.text);
                prop_assert_eq!(&owner.id, &section.id);
            }
            if whole && section.level > 0 {
                prop_assert_eq!(&kept.section(&section.id).map(|s| &s.raw), &Some(&section.raw));
            }
        }
        let ids: BTreeSet<_> = kept.blocks().map(|b| &b.id).collect();
        prop_assert_eq!(ids.len(), kept.blocks().count());
    }

    #[test]
    fn operations_leave_what_is_locked(text in calm_text(), seeds in seeds(10), mask in any::<u32>()) {
        let base = parse(&text);
        let ids = base.blocks().map(|block| &block.id).chain(base.sections.iter().map(|s| &s.id));
        let picked = ids.enumerate().filter(|(at, _)| (mask >> (at % 32)) & 1 == 1);
        let locks: HashSet<String> = picked.map(|(_, id)| id.clone()).collect();
        let rules = Rules { locks: locks.clone(), ..Rules::default() };
        let applied = run_under(&base, &seeds, &rules);
        prop_assert!(!changes_locked(&base, &applied.document, &locks), "{:?}", applied.results);
    }

    #[test]
    fn word_runs_give_both_texts(old in "[a-d \n.]{0,40}", new in "[a-d \n.]{0,40}") {
        let runs = word_diff(&old, &new);
        let side = |without: SpanKind| -> String {
            runs.iter().filter(|run| run.kind != without).map(|run| run.text.as_str()).collect()
        };
        prop_assert_eq!(side(SpanKind::Added), old);
        prop_assert_eq!(side(SpanKind::Removed), new);
    }
}

fn derive(base: &Document, candidate: &Document) -> Derived {
    let (texts, provenance) = (HashMap::new(), Provenance::default());
    derive_ops(base, candidate, &[], &RunFacts { texts: &texts, provenance: &provenance })
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

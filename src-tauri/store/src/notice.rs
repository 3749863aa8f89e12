//! News of a committed write: which bank, which families of things, which ids. Sent after the
//! commit, never before, so that whoever hears it reads what was written.

use std::collections::BTreeMap;

use domain::{BankId, CacheTag};

/// What one committed transaction changed in one bank (or in the program, with no bank).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The bank, or none for program-wide things.
    pub bank: Option<BankId>,
    /// The families that changed, each with the ids that are known; an empty list means "any".
    pub changed: BTreeMap<CacheTag, Vec<String>>,
}

/// More ids than this in one family are reported as "any": a screen then fetches its page anyway.
const MAX_IDS: usize = 50;

/// Collects the news of a transaction.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    changed: BTreeMap<Option<BankId>, BTreeMap<CacheTag, Option<Vec<String>>>>,
}

impl Collector {
    pub(crate) fn add(&mut self, bank: Option<BankId>, tag: CacheTag, id: Option<&str>) {
        let slot =
            self.changed.entry(bank).or_default().entry(tag).or_insert_with(|| Some(Vec::new()));
        match (id, slot.as_mut()) {
            (Some(id), Some(ids)) if ids.iter().any(|known| known == id) => {}
            (Some(id), Some(ids)) if ids.len() < MAX_IDS => ids.push(id.to_owned()),
            _ => *slot = None,
        }
    }

    pub(crate) fn into_notices(self) -> Vec<Notice> {
        self.changed
            .into_iter()
            .map(|(bank, tags)| Notice {
                bank,
                changed: tags.into_iter().map(|(t, ids)| (t, ids.unwrap_or_default())).collect(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_notice_per_bank_and_any_swallows_ids() {
        let mut news = Collector::default();
        news.add(Some("a".into()), CacheTag::Memories, Some("m1"));
        news.add(Some("a".into()), CacheTag::Memories, Some("m1"));
        news.add(Some("a".into()), CacheTag::Models, Some("x"));
        news.add(Some("a".into()), CacheTag::Models, None);
        news.add(None, CacheTag::Settings, None);
        let notices = news.into_notices();
        assert_eq!(notices.len(), 2);
        assert_eq!(notices[1].changed[&CacheTag::Memories], ["m1"]);
        assert!(notices[1].changed[&CacheTag::Models].is_empty());
    }
}

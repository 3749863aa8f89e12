//! Pages of memories, filtered and sorted, by keyset.

use domain::time::to_millis;
use domain::{DocumentId, FactType, Instant};
use rusqlite::types::Value;

use super::{JOINS, Memory, SELECT, State, read};
use crate::error::Result;
use crate::keys::{BankKey, EntityKey, MemoryKey};
use crate::row;
use crate::search::Clause;
use crate::search::text::{every_word, unspaced_pieces};
use crate::tag_sets::TagSets;
use crate::tx::ReadTx;

/// What a list shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Types; empty means all.
    pub types: Vec<FactType>,
    /// In use, out of use, or (none) both.
    pub state: Option<State>,
    /// Every word must be there, the last one as a beginning. Text without a letter or digit
    /// filters nothing.
    pub text: Option<String>,
    /// Tag sets.
    pub tag_sets: TagSets,
    /// Of this document.
    pub document: Option<DocumentId>,
    /// That mention this entity.
    pub entity: Option<EntityKey>,
    /// Fold state of facts.
    pub consolidation: Option<Consolidation>,
    /// Told or happened at or after this.
    pub from: Option<Instant>,
    /// Told or happened at or before this.
    pub to: Option<Instant>,
}

impl Default for Filter {
    /// Everything in use.
    fn default() -> Self {
        Self {
            types: Vec::new(),
            state: Some(State::Valid),
            text: None,
            tag_sets: TagSets::All,
            document: None,
            entity: None,
            consolidation: None,
            from: None,
            to: None,
        }
    }
}

/// The fold state of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consolidation {
    /// Waiting.
    Pending,
    /// Folded.
    Done,
    /// Given up.
    Failed,
}

/// The order of a list, newest or greatest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By when the source says it; undated ones last.
    MentionedAt,
    /// By when it was stored.
    #[default]
    CreatedAt,
    /// By when it last changed.
    UpdatedAt,
    /// By number of proofs.
    ProofCount,
}

impl Sort {
    fn column(self) -> &'static str {
        match self {
            Self::MentionedAt => "m.mentioned_at",
            Self::CreatedAt => "m.created_at",
            Self::UpdatedAt => "m.updated_at",
            Self::ProofCount => "m.proof_count",
        }
    }

    fn value(self, memory: &Memory) -> Option<i64> {
        match self {
            Self::MentionedAt => row::ms(memory.mentioned_at),
            Self::CreatedAt => Some(to_millis(memory.created_at)),
            Self::UpdatedAt => Some(to_millis(memory.updated_at)),
            Self::ProofCount => Some(i64::from(memory.proof_count)),
        }
    }
}

/// Where a page ends: the sort value and the key of its last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListCursor {
    /// The sort value, none for an undated row.
    pub value: Option<i64>,
    /// The key.
    pub key: MemoryKey,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The rows.
    pub items: Vec<Memory>,
    /// Where the next page begins, if there may be one.
    pub next: Option<ListCursor>,
}

/// A page of the memories of a bank.
pub fn list(
    tx: &ReadTx<'_>,
    bank: BankKey,
    filter: &Filter,
    sort: Sort,
    after: Option<ListCursor>,
    limit: u32,
) -> Result<Page> {
    let mut clause = conditions(bank, filter);
    let column = sort.column();
    if let Some(after) = after {
        let key = clause.bind(after.key.0);
        match after.value {
            Some(value) => {
                let value = clause.bind(value);
                clause.text(&format!("AND (({column}, m.id) < (?{value}, ?{key})"));
                // Undated rows come after all dated ones.
                clause.text(match sort {
                    Sort::MentionedAt => "OR m.mentioned_at IS NULL)",
                    Sort::CreatedAt | Sort::UpdatedAt | Sort::ProofCount => ")",
                });
            }
            None => clause.text(&format!("AND {column} IS NULL AND m.id < ?{key}")),
        }
    }
    let rows = clause.bind(i64::from(limit));
    let sql = format!(
        "{SELECT} FROM memory m {JOINS} WHERE{} ORDER BY {column} DESC, m.id DESC LIMIT ?{rows}",
        clause.sql
    );
    let items = tx.list(&sql, rusqlite::params_from_iter(clause.values), read)?;
    let full = u32::try_from(items.len()).unwrap_or(u32::MAX) == limit;
    let next = items
        .last()
        .filter(|_| full)
        .map(|last| ListCursor { value: sort.value(last), key: last.key });
    Ok(Page { items, next })
}

/// How many memories a list has in all.
pub fn count(tx: &ReadTx<'_>, bank: BankKey, filter: &Filter) -> Result<u32> {
    let clause = conditions(bank, filter);
    let sql = format!("SELECT count(*) FROM memory m WHERE{}", clause.sql);
    tx.one(&sql, rusqlite::params_from_iter(clause.values), |r| row::count(r, 0))
}

fn conditions(bank: BankKey, filter: &Filter) -> Clause {
    let mut clause = Clause::default();
    clause.and("m.bank_id = ", bank.0);
    match filter.state {
        Some(State::Valid) => clause.text("AND m.state = 0"),
        Some(State::Invalidated) => clause.text("AND m.state = 1"),
        None => {}
    }
    if !filter.types.is_empty() && filter.types.len() < FactType::ALL.len() {
        let codes: Vec<String> = filter.types.iter().map(|t| t.code().to_string()).collect();
        // The plus keeps the type out of the choice of index: the order of the list decides it.
        clause.text(&format!("AND +m.fact_type IN ({})", codes.join(", ")));
    }
    if let TagSets::These(sets) = &filter.tag_sets {
        let at = clause.bind(row::id_list(sets.iter().map(|s| s.0)));
        clause.text(&format!("AND +m.tag_set_id IN (SELECT value FROM json_each(?{at}))"));
    }
    if let Some(document) = &filter.document {
        let (bank, id) = (clause.bind(bank.0), clause.bind(document.0.clone()));
        clause.text(&format!(
            "AND m.document_id = (SELECT id FROM document WHERE bank_id = ?{bank} AND doc_uid = ?{id})"
        ));
    }
    if let Some(entity) = filter.entity {
        let at = clause.bind(entity.0);
        clause.text(&format!(
            "AND m.id IN (SELECT memory_id FROM memory_entity WHERE entity_id = ?{at})"
        ));
    }
    match filter.consolidation {
        Some(Consolidation::Pending) => clause.text(
            "AND m.fact_type < 2 AND m.consolidated_at IS NULL AND m.consolidation_failed_at IS NULL",
        ),
        Some(Consolidation::Done) => clause.text("AND m.consolidated_at IS NOT NULL"),
        Some(Consolidation::Failed) => clause.text("AND m.consolidation_failed_at IS NOT NULL"),
        None => {}
    }
    if let Some(from) = filter.from {
        clause.and("m.event_at >= ", to_millis(from));
    }
    if let Some(to) = filter.to {
        clause.and("m.event_at <= ", to_millis(to));
    }
    if let Some(text) = &filter.text {
        text_conditions(&mut clause, filter.state, text);
    }
    clause
}

fn text_conditions(clause: &mut Clause, state: Option<State>, text: &str) {
    let pieces = unspaced_pieces(text);
    if state == Some(State::Valid) {
        if let Some(words) = every_word(text) {
            let at = clause.bind(words);
            clause.text(&format!(
                "AND m.id IN (SELECT rowid FROM fts_memory WHERE fts_memory MATCH ?{at})"
            ));
        }
    } else {
        // Memories out of use are in no index; there are few of them.
        for word in every_word(text).iter().flat_map(|w| w.split('"')) {
            if word.chars().any(char::is_alphanumeric) {
                contains(clause, word);
            }
        }
    }
    for piece in &pieces {
        contains(clause, piece);
    }
}

fn contains(clause: &mut Clause, piece: &str) {
    let at = clause.bind(Value::from(piece.to_owned()));
    clause.text(&format!("AND instr(lower(m.text), ?{at}) > 0"));
}

//! Folding without a language model: facts of one scope that say the same of the same entities become
//! one observation (memory 10.9). Also for facts that must not reach a language model elsewhere. No
//! text is written here that no fact has.

use super::plan::{self, Make, Pass, Rewrite, Seen, times_of};
use super::round::Desk;
use super::select::{self, Waiting};
use crate::Result;
use crate::handle::read_bank;
use crate::memory::search::names;
use domain::bank::BankSettings;
use domain::consolidation::{Rejected, equal_statement_key, merge_times};
use domain::entities::canon_key;
use domain::{FactType, MemoryId};
use std::collections::{BTreeSet, HashMap};
use store::memories::{self, Memory};
use store::tag_sets::TagSets;
use store::{BankKey, MemoryKey, ReadTx};

/// Stored memories that say the same as a fact of the batch and are looked at: more proof than anybody
/// reads. Facts beyond it were folded into the observation when they came.
const MOST_ALIKE: usize = 256;

/// Facts that say the same, and the observation that says it already.
struct Group {
    facts: Vec<Memory>,
    entities: Vec<String>,
    /// With its sources.
    observation: Option<(Memory, BTreeSet<MemoryKey>)>,
}

/// Plans one scope of some facts.
///
/// # Errors
/// Those of reading and of the embedder.
pub(super) async fn pass(desk: &Desk, scope: &[String], facts: &[Waiting]) -> Result<Pass> {
    let (own, waiting, settings) = (scope.to_vec(), facts.to_vec(), desk.settings.clone());
    let groups = read_bank(&desk.engine, &desk.bank, move |tx, bank| {
        groups(tx, bank, &settings, &own, &waiting)
    })
    .await?;
    let mut pass = Pass { scope: scope.to_vec(), ..Pass::default() };
    let mut slots = plan::free_slots(desk, scope).await?;
    for group in groups {
        let newest = group.facts.iter().max_by_key(|fact| (fact.event_at, fact.key));
        let Some(text) = newest.map(|fact| fact.text.clone()) else { continue };
        let times = merge_times(group.facts.iter().map(times_of));
        match group.observation {
            Some((observation, known)) => {
                let new = group.facts.iter().filter(|fact| !known.contains(&fact.key));
                let sources: Vec<Seen> = new.map(Seen::of).collect();
                let text = Some(text).filter(|text| *text != observation.text);
                let vector = match &text {
                    Some(text) => {
                        plan::vector_of(desk, scope, text, times, &group.entities).await?
                    }
                    None => None,
                };
                pass.rewrites.push(Rewrite {
                    observation: Seen::of(&observation),
                    text,
                    sources,
                    reason: "Said again.".to_owned(),
                    vector,
                    absorbs: Vec::new(),
                });
            }
            None if group.facts.len() < 2 => {}
            None if slots == Some(0) => pass.reject(Rejected::NoSlot.word(), 1),
            None => {
                slots = slots.map(|free| free - 1);
                pass.creates.push(Make {
                    id: MemoryId(desk.engine.new_id()),
                    vector: plan::vector_of(desk, scope, &text, times, &group.entities).await?,
                    sources: group.facts.iter().map(Seen::of).collect(),
                    text,
                });
            }
        }
    }
    Ok(pass)
}

/// The facts in groups of equal statements, each with the stored ones that say the same in this
/// scope, in the order given.
fn groups(
    tx: &ReadTx<'_>,
    bank: BankKey,
    settings: &BankSettings,
    scope: &[String],
    facts: &[Waiting],
) -> store::Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for fact in facts {
        let key = statement(&fact.memory.text, &fact.entities);
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                facts: Vec::new(),
                entities: fact.entities.clone(),
                observation: None,
            });
        }
        groups[place].facts.push(fact.memory.clone());
    }
    let exactly = select::exactly(tx, bank, scope)?;
    for group in &mut groups {
        add_stored(tx, bank, settings, (scope, &exactly), group)?;
    }
    Ok(groups)
}

fn statement(text: &str, entities: &[String]) -> String {
    let keys: Vec<String> = entities.iter().map(|name| canon_key(name)).collect();
    equal_statement_key(text, &keys)
}

fn add_stored(
    tx: &ReadTx<'_>,
    bank: BankKey,
    settings: &BankSettings,
    (scope, exactly): (&[String], &TagSets),
    group: &mut Group,
) -> store::Result<()> {
    let Some(first) = group.facts.first() else { return Ok(()) };
    let key = statement(&first.text, &group.entities);
    let mut alike = memories::saying_the_same(tx, bank, &first.text, exactly, MOST_ALIKE)?;
    alike.sort_by_key(|memory| memory.key);
    let observations: Vec<MemoryKey> = alike
        .iter()
        .filter(|memory| memory.fact_type == FactType::Observation)
        .map(|memory| memory.key)
        .collect();
    let pairs = memories::sources(tx, &observations)?;
    let mut entities = names(tx, alike.iter().map(|memory| memory.key), &pairs)?;
    for memory in alike {
        let own = entities.remove(&memory.key).unwrap_or_default();
        if statement(&memory.text, &own) != key {
            continue;
        }
        if memory.fact_type == FactType::Observation {
            if group.observation.is_none() {
                let known = pairs.iter().filter(|(observation, _)| *observation == memory.key);
                let known = known.map(|(_, fact)| *fact).collect();
                group.observation = Some((memory, known));
            }
            continue;
        }
        let scopes = select::scopes_of(&memory.tags, memory.scopes.as_ref(), settings);
        let in_scope = scopes.is_ok_and(|scopes| scopes.iter().any(|one| one == scope));
        if in_scope && group.facts.iter().all(|fact| fact.key != memory.key) {
            group.facts.push(memory);
        }
    }
    Ok(())
}

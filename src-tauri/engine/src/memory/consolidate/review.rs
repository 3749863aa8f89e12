//! Observations that lost a source but rest on others (the setting `invalidate` = `surgical`):
//! rewritten from what is left, or dropped when nothing is. One that cannot be judged keeps its mark
//! until the next round.

use super::apply::Order;
use super::call;
use super::candidates::Candidate;
use super::plan::{self, Pass, Rewrite, Seen, times_of};
use super::round::Round;
use super::select::Waiting;
use crate::Result;
use crate::handle::read_bank;
use domain::consolidation::merge_times;
use store::MemoryKey;
use store::memories::{self, Memory, State};

/// Facts that an observation is rewritten from, the newest.
const FACTS: usize = 24;

/// What the call is about.
const NOTE: &str = "O1 has lost a fact that it rested on. Rewrite it so that it says only what \
    F1, F2, … bear out, and name these. Drop it if they bear out nothing of it. Make nothing else.";

/// Rewrites every marked observation.
pub(super) async fn run(round: &mut Round<'_>) -> Result<()> {
    let marked = read_bank(&round.desk.engine, &round.desk.bank, memories::to_review).await?;
    for key in marked {
        round.desk.check()?;
        one(round, key).await?;
    }
    Ok(())
}

async fn one(round: &mut Round<'_>, key: MemoryKey) -> Result<()> {
    let desk = &round.desk;
    let (observation, mut facts) = read_bank(&desk.engine, &desk.bank, move |tx, _| {
        let observation = memories::by_keys(tx, &[key])?.pop();
        let sources: Vec<MemoryKey> =
            memories::sources(tx, &[key])?.into_iter().map(|(_, fact)| fact).collect();
        let mut names = crate::memory::search::names(tx, sources.iter().copied(), &[])?;
        let facts: Vec<Waiting> = memories::by_keys(tx, &sources)?
            .into_iter()
            .filter(|memory| memory.state == State::Valid)
            .map(|memory| Waiting {
                entities: names.remove(&memory.key).unwrap_or_default(),
                memory,
            })
            .collect();
        Ok((observation, facts))
    })
    .await?;
    let Some(observation) = observation.filter(|one| one.state == State::Valid) else {
        return Ok(());
    };
    let order = |pass: Pass| Order {
        operation: Some(round.running.operation.key),
        facts: Vec::new(),
        tags: observation.tags.iter().cloned().collect(),
        passes: vec![pass],
        history_limit: desk.settings.observation_history_max_entries,
    };
    if facts.is_empty() {
        let gone = Pass { deletes: vec![Seen::of(&observation)], ..Pass::default() };
        let order = order(gone);
        return round.commit(order).await;
    }
    facts.sort_by_key(|fact| std::cmp::Reverse((fact.memory.event_at, fact.memory.key)));
    facts.truncate(FACTS);
    let private = facts.iter().any(|fact| desk.stays_here(&fact.memory.tags));
    let pass = match &desk.provider {
        Some(provider) if !private && !desk.stays_here(&observation.tags) => {
            let provider = std::sync::Arc::clone(provider);
            match asked(round, provider.as_ref(), &observation, &facts).await {
                Ok(pass) => pass,
                Err(error) if call::concerns_the_batch(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Some(_) | None => from_newest(round, &observation, &facts).await?,
    };
    let order = order(pass);
    round.commit(order).await
}

async fn asked(
    round: &Round<'_>,
    provider: &dyn llm::Provider,
    observation: &Memory,
    facts: &[Waiting],
) -> Result<Pass> {
    let desk = &round.desk;
    let scope: Vec<String> = observation.tags.iter().cloned().collect();
    let candidate = Candidate {
        memory: observation.clone(),
        entities: Vec::new(),
        sources: Vec::new(),
        shown_for: facts.iter().map(|fact| fact.memory.id.clone()).collect(),
    };
    let shown = [candidate];
    let question = call::Question { facts, shown: &shown, slots: None, note: NOTE };
    let answer = call::ask(desk, provider, &question).await?;
    let pass = plan::of_answer(desk, None, &scope, facts, &shown, Some(0), answer).await?;
    let untouched = pass.deletes.is_empty() && pass.rewrites.is_empty();
    Ok(if untouched { kept(pass, observation) } else { Pass { creates: Vec::new(), ..pass } })
}

/// It holds as it stands: the mark goes, nothing else.
fn kept(pass: Pass, observation: &Memory) -> Pass {
    Pass { rewrites: vec![as_it_is(observation)], creates: Vec::new(), ..pass }
}

fn as_it_is(observation: &Memory) -> Rewrite {
    Rewrite {
        observation: Seen::of(observation),
        text: None,
        sources: Vec::new(),
        reason: String::new(),
        vector: None,
        absorbs: Vec::new(),
    }
}

/// Without a language model, the newest fact speaks for all: they said the same.
async fn from_newest(round: &Round<'_>, observation: &Memory, facts: &[Waiting]) -> Result<Pass> {
    let scope: Vec<String> = observation.tags.iter().cloned().collect();
    let pass = Pass { scope: scope.clone(), ..Pass::default() };
    let Some(newest) = facts.first().filter(|fact| fact.memory.text != observation.text) else {
        return Ok(kept(pass, observation));
    };
    let times = merge_times(facts.iter().map(|fact| times_of(&fact.memory)));
    let text = newest.memory.text.clone();
    let vector = plan::vector_of(&round.desk, &scope, &text, times, &newest.entities).await?;
    let rewrite = Rewrite {
        text: Some(text),
        reason: "Rewritten from the facts that are left.".to_owned(),
        vector,
        ..as_it_is(observation)
    };
    Ok(Pass { rewrites: vec![rewrite], ..pass })
}

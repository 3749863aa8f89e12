//! What a language model wants done with observations, checked against what it was shown. Actions
//! on what it did not see are turned away with a reason.

use std::collections::HashSet;

use serde::Deserialize;

use crate::text::collapse_blanks;

/// An observation to be made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Create {
    /// Its text.
    pub text: String,
    /// Facts it rests on.
    #[serde(default, rename = "source_fact_ids")]
    pub sources: Vec<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// An observation to be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Update {
    /// The observation.
    #[serde(rename = "observation_id")]
    pub observation: String,
    /// Its new text.
    pub text: String,
    /// Facts to add to its sources.
    #[serde(default, rename = "source_fact_ids")]
    pub sources: Vec<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// An observation to be dropped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Delete {
    /// The observation.
    #[serde(rename = "observation_id")]
    pub observation: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// The answer of a language model, with handles already mapped back to ids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// To be made.
    pub creates: Vec<Create>,
    /// To be rewritten.
    pub updates: Vec<Update>,
    /// To be dropped.
    pub deletes: Vec<Delete>,
}

/// Facts that become further sources of an observation whose text stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// The observation.
    pub observation: String,
    /// The facts.
    pub sources: Vec<String>,
}

/// An observation that the language model saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownObservation {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// The facts of the batch for which it was found.
    pub shown_for: Vec<String>,
}

/// Why an action is not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rejected {
    /// None of its facts is in the batch.
    UnknownFact,
    /// Its observation was not shown, or not for any of its facts.
    NotShown,
    /// It has no text.
    BlankText,
    /// The scope is full.
    NoSlot,
    /// The same answer also keeps what it deletes.
    Kept,
}

impl Rejected {
    /// The stable word of the reason.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownFact => "unknown_fact",
            Self::NotShown => "not_shown",
            Self::BlankText => "blank_text",
            Self::NoSlot => "no_slot",
            Self::Kept => "kept",
        }
    }
}

/// Actions that may be applied, in the order of application: deletes, updates, attachments,
/// creates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckedActions {
    /// Observations to drop, each once.
    pub deletes: Vec<Delete>,
    /// Observations to rewrite, each once.
    pub updates: Vec<Update>,
    /// Observations that gain sources.
    pub attach: Vec<Attach>,
    /// Observations to make.
    pub creates: Vec<Create>,
    /// One reason for each action that is not applied. Its facts count as handled.
    pub rejected: Vec<Rejected>,
}

/// Checks an answer against the batch it was given. Facts outside the batch are left out of an
/// action, and an action without any is rejected. Updates of one observation become one; an update
/// beats a delete; a create that repeats a shown observation becomes a proof of it, one that
/// repeats an update is added to that update. `slots` is what the scope still takes (none for no
/// limit).
#[must_use]
pub fn validate_actions(
    facts: &[String],
    shown: &[ShownObservation],
    slots: Option<usize>,
    answer: Answer,
) -> CheckedActions {
    let mut check = Check {
        facts: facts.iter().map(String::as_str).collect(),
        shown,
        done: CheckedActions::default(),
    };
    for update in answer.updates {
        check.update(update);
    }
    for create in answer.creates {
        check.create(create);
    }
    for delete in answer.deletes {
        check.delete(delete);
    }
    let mut done = check.done;
    let free = slots.unwrap_or(usize::MAX);
    if done.creates.len() > free {
        let cut = done.creates.split_off(free);
        done.rejected.extend(cut.iter().map(|_| Rejected::NoSlot));
    }
    done
}

struct Check<'a> {
    facts: HashSet<&'a str>,
    shown: &'a [ShownObservation],
    done: CheckedActions,
}

impl Check<'_> {
    fn reject(&mut self, why: Rejected) {
        self.done.rejected.push(why);
    }

    // The facts of an action that are in the batch, each once.
    fn known(&self, sources: Vec<String>) -> Vec<String> {
        let mut known = Vec::new();
        let inside = sources.into_iter().filter(|id| self.facts.contains(id.as_str()));
        add_new(&mut known, inside);
        known
    }

    fn update(&mut self, mut update: Update) {
        update.sources = self.known(update.sources);
        if update.sources.is_empty() {
            return self.reject(Rejected::UnknownFact);
        }
        let was_shown = |seen: &ShownObservation| {
            seen.id == update.observation
                && update.sources.iter().any(|id| seen.shown_for.contains(id))
        };
        if !self.shown.iter().any(was_shown) {
            return self.reject(Rejected::NotShown);
        }
        if update.text.trim().is_empty() {
            return self.reject(Rejected::BlankText);
        }
        match self.done.updates.iter_mut().find(|known| known.observation == update.observation) {
            Some(known) => {
                known.text = update.text;
                known.reason = update.reason.or(known.reason.take());
                add_new(&mut known.sources, update.sources);
            }
            None => self.done.updates.push(update),
        }
    }

    fn create(&mut self, mut create: Create) {
        create.sources = self.known(create.sources);
        if create.sources.is_empty() {
            return self.reject(Rejected::UnknownFact);
        }
        let text = collapse_blanks(&create.text);
        if text.is_empty() {
            return self.reject(Rejected::BlankText);
        }
        let done = &mut self.done;
        let repeated = self.shown.iter().find(|seen| collapse_blanks(&seen.text) == text);
        // An update says what becomes of the observation, so the proof goes there.
        let updated = done.updates.iter_mut().find(|update| {
            collapse_blanks(&update.text) == text
                || repeated.is_some_and(|seen| seen.id == update.observation)
        });
        let twin = |known: &&mut Create| collapse_blanks(&known.text) == text;
        if let Some(update) = updated {
            add_new(&mut update.sources, create.sources);
        } else if let Some(seen) = repeated {
            match done.attach.iter_mut().find(|attach| attach.observation == seen.id) {
                Some(attach) => add_new(&mut attach.sources, create.sources),
                None => done
                    .attach
                    .push(Attach { observation: seen.id.clone(), sources: create.sources }),
            }
        } else if let Some(known) = done.creates.iter_mut().find(twin) {
            add_new(&mut known.sources, create.sources);
        } else {
            done.creates.push(create);
        }
    }

    fn delete(&mut self, delete: Delete) {
        let id = &delete.observation;
        if !self.shown.iter().any(|seen| seen.id == *id) {
            return self.reject(Rejected::NotShown);
        }
        let kept = self.done.updates.iter().any(|update| update.observation == *id)
            || self.done.attach.iter().any(|attach| attach.observation == *id);
        if kept {
            return self.reject(Rejected::Kept);
        }
        if !self.done.deletes.iter().any(|known| known.observation == *id) {
            self.done.deletes.push(delete);
        }
    }
}

fn add_new(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for id in more {
        if !list.contains(&id) {
            list.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(id: &str, text: &str, facts: &[&str]) -> ShownObservation {
        ShownObservation {
            id: id.to_owned(),
            text: text.to_owned(),
            shown_for: facts.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    fn check(shown: &[ShownObservation], answer: serde_json::Value) -> CheckedActions {
        let facts = ["f1", "f2"].map(str::to_owned);
        validate_actions(&facts, shown, None, serde_json::from_value(answer).unwrap())
    }

    #[test]
    fn an_observation_found_for_another_fact_may_not_be_updated() {
        let seen = [shown("o1", "Tea", &["f2"])];
        let update = |fact: &str| json!({"updates": [{"observation_id": "o1", "text": "T", "source_fact_ids": [fact]}]});
        assert_eq!(check(&seen, update("f1")).rejected, [Rejected::NotShown]);
        assert_eq!(check(&seen, update("f2")).updates.len(), 1);
    }

    #[test]
    fn a_create_that_repeats_an_update_is_dropped_into_it() {
        let seen = [shown("o1", "Tea", &["f1"])];
        let done = check(
            &seen,
            json!({
                "creates": [
                    {"text": "Green  tea", "source_fact_ids": ["f2", "f9"]},
                    {"text": "Tea", "source_fact_ids": ["f2"]},
                ],
                "updates":
                    [{"observation_id": "o1", "text": "Green tea", "source_fact_ids": ["f1"]}],
            }),
        );
        assert_eq!(done.updates[0].sources, ["f1", "f2"]);
        assert!(done.creates.is_empty() && done.attach.is_empty() && done.rejected.is_empty());
    }

    #[test]
    fn a_repeated_observation_is_not_deleted_beside_its_new_proof() {
        let seen = [shown("o1", "Tea", &["f1"])];
        let done = check(
            &seen,
            json!({
                "creates": [{"text": "Tea", "source_fact_ids": ["f1"]}],
                "deletes": [{"observation_id": "o1"}],
            }),
        );
        assert_eq!(done.attach.len(), 1);
        assert!(done.deletes.is_empty());
        assert_eq!(done.rejected, [Rejected::Kept]);
    }

    #[test]
    fn equal_creates_of_one_answer_become_one() {
        let done = check(
            &[],
            json!({"creates": [
                {"text": "A", "source_fact_ids": ["f1"]},
                {"text": " A ", "source_fact_ids": ["f2"]},
                {"text": " ", "source_fact_ids": ["f2"]},
            ]}),
        );
        assert_eq!(done.creates[0].sources, ["f1", "f2"]);
        assert_eq!((done.creates.len(), done.rejected.len()), (1, 1));
    }
}

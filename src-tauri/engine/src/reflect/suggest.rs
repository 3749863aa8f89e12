//! Questions to begin with, made from what the bank holds: the subjects of its models and the
//! entities that it speaks of most. No language model, no guess at an answer.

use crate::handle::read_bank;
use crate::{Engine, Result};
use domain::BankId;
use store::tag_sets::TagSets;

/// Questions that are offered.
const MOST: usize = 4;

/// Questions for a bank; none for an empty one.
pub(super) async fn questions(engine: &Engine, bank: &BankId) -> Result<Vec<String>> {
    read_bank(engine, bank, |tx, key| {
        let (models, _) = store::models::list(tx, key, &TagSets::All, None, 2)?;
        let asked = models.into_iter().map(|model| model.source_query);
        let entities = store::entities::top(tx, key, 6)?;
        let shapes = ["What is known about {}?", "What changed lately with {}?"];
        let about = entities
            .into_iter()
            .zip(shapes.iter().cycle())
            .map(|(entity, shape)| shape.replace("{}", &entity.canonical));
        let mut questions: Vec<String> = Vec::new();
        for question in asked.chain(about) {
            if !questions.contains(&question) && questions.len() < MOST {
                questions.push(question);
            }
        }
        Ok(questions)
    })
    .await
}

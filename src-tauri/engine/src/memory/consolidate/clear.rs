//! Taking observations away on demand; their facts wait to be folded again.

use super::select;
use crate::handle::{read_bank, write_bank};
use crate::view::memory::ClearObservations;
use crate::{Engine, Result};
use domain::{BankId, FactType};
use store::memories::{self, Unfold};
use store::tag_sets::TagSets;

/// Observations of one commit.
const AT_ONCE: u32 = 500;

/// Takes them away; gives their number. Many go in several commits, each of which leaves facts and
/// observations in agreement.
pub(super) async fn clear(engine: &Engine, bank: &BankId, which: ClearObservations) -> Result<u32> {
    let unfold = read_bank(engine, bank, move |tx, key| {
        Ok(match which {
            ClearObservations::Bank => Unfold::Scopes(TagSets::All),
            ClearObservations::Scope(tags) => {
                let scope = domain::tags::TagSet::new(&tags).to_vec();
                Unfold::Scopes(select::exactly(tx, key, &scope)?)
            }
            ClearObservations::Memory(id) => {
                let memory = memories::get(tx, key, &id)?;
                if memory.fact_type == FactType::Observation {
                    return Err(store::Error::NotCuratable);
                }
                Unfold::Fact(memory.key)
            }
        })
    })
    .await?;
    let mut cleared = 0;
    loop {
        let (own, now) = (unfold.clone(), engine.now());
        let gone = write_bank(engine, bank, "clear_observations", move |tx, key| {
            memories::unfold(tx, key, &own, AT_ONCE, now)
        })
        .await?;
        cleared += gone;
        if gone < AT_ONCE || matches!(unfold, Unfold::Fact(_)) {
            return Ok(cleared);
        }
    }
}

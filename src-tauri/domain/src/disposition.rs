//! The temper of a bank: three traits from 1 to 5 that colour how retrieved statements are read and
//! told. It changes interpretation and tone, never facts, citations or rules.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A trait of the disposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Trait {
    /// From trusting to doubting.
    Skepticism,
    /// From inferring to exact wording.
    Literalism,
    /// From detached to minding feelings.
    Empathy,
}

impl Trait {
    /// All three, in the order in which they are told.
    pub const ALL: [Self; 3] = [Self::Skepticism, Self::Literalism, Self::Empathy];

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Skepticism => "skepticism",
            Self::Literalism => "literalism",
            Self::Empathy => "empathy",
        }
    }
}

/// Level without effect.
pub const NEUTRAL: u8 = 3;

/// The three traits of a bank, each from 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Disposition {
    /// From 1, trusting, to 5, doubting every claim.
    pub skepticism: u8,
    /// From 1, inferring freely, to 5, holding to the wording.
    pub literalism: u8,
    /// From 1, facts and outcomes, to 5, leading with the human side.
    pub empathy: u8,
}

impl Default for Disposition {
    fn default() -> Self {
        Self { skepticism: NEUTRAL, literalism: NEUTRAL, empathy: NEUTRAL }
    }
}

impl Disposition {
    /// The level of a trait.
    #[must_use]
    pub fn level(&self, of: Trait) -> u8 {
        match of {
            Trait::Skepticism => self.skepticism,
            Trait::Literalism => self.literalism,
            Trait::Empathy => self.empathy,
        }
    }
}

/// What a value stored for a trait means: a level, or null, which clears the bank's own. Whole
/// numbers from 1 to 5 only; booleans, floats (3.0 too) and text are refused.
///
/// # Errors
/// The value is none of these.
pub fn parse_level(value: &Value) -> Result<Option<u8>, LevelFault> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => number
            .as_u64()
            .and_then(|level| u8::try_from(level).ok())
            .filter(|level| (1..=5).contains(level))
            .map(Some)
            .ok_or(LevelFault),
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Err(LevelFault),
    }
}

/// A value that is no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A trait is a whole number from 1 to 5, or null.")]
pub struct LevelFault;

/// Whether a value may be stored for a trait.
#[must_use]
pub fn validate_disposition(value: &Value) -> bool {
    parse_level(value).is_ok()
}

/// Keys of the instructions of a disposition, `<trait>_<level>` for each trait that is not neutral,
/// or `balanced` alone.
#[must_use]
pub fn disposition_lines(disposition: &Disposition) -> Vec<String> {
    let lines: Vec<String> = Trait::ALL
        .into_iter()
        .filter(|of| disposition.level(*of) != NEUTRAL)
        .map(|of| format!("{}_{}", of.word(), disposition.level(of)))
        .collect();
    if lines.is_empty() { vec!["balanced".to_owned()] } else { lines }
}

/// What the language model is told about a trait at a level; none where it is told nothing.
#[must_use]
pub fn disposition_instruction(of: Trait, level: u8) -> Option<&'static str> {
    match (of, level) {
        (Trait::Skepticism, 1) => Some(
            "Accept retrieved statements as they are. Raise no doubts unless they contradict each \
             other.",
        ),
        (Trait::Skepticism, 2) => {
            Some("Trust retrieved statements by default. Mention only obvious inconsistencies.")
        }
        (Trait::Skepticism, 4) => Some(
            "Ask of each important claim how it is supported. Say so when the support is thin or \
             comes from a single source.",
        ),
        (Trait::Skepticism, 5) => Some(
            "Treat every claim as unproven: name how many sources it has, how old they are, what \
             motive may lie behind it and what is missing. Conclude cautiously.",
        ),
        (Trait::Literalism, 1) => {
            Some("Infer intent and implied meaning freely, and say that it is an inference.")
        }
        (Trait::Literalism, 2) => {
            Some("Beside the stated words, context and implication may count.")
        }
        (Trait::Literalism, 4) => {
            Some("Stay close to the wording of the sources and mark whatever is inferred.")
        }
        (Trait::Literalism, 5) => Some(
            "Use only what is stated. Quote key commitments word for word and draw no implied \
             meaning.",
        ),
        (Trait::Empathy, 1) => {
            Some("Report facts and outcomes. Leave feelings out unless they are asked about.")
        }
        (Trait::Empathy, 2) => Some("Put facts first. Note feelings in passing where they matter."),
        (Trait::Empathy, 4) => {
            Some("Give feelings and circumstances real weight in the conclusion.")
        }
        (Trait::Empathy, 5) => Some(
            "Lead with the human side: what people need, what strains them, how advice will land.",
        ),
        (Trait::Skepticism | Trait::Literalism | Trait::Empathy, _) => None,
    }
}

/// Dispositions offered by name: skepticism, literalism, empathy.
pub const PRESETS: [(&str, Disposition); 5] = [
    ("customer_support", Disposition { skepticism: 2, literalism: 2, empathy: 5 }),
    ("code_review", Disposition { skepticism: 4, literalism: 5, empathy: 2 }),
    ("legal_analysis", Disposition { skepticism: 5, literalism: 5, empathy: 2 }),
    ("coach", Disposition { skepticism: 2, literalism: 2, empathy: 5 }),
    ("research_assistant", Disposition { skepticism: 4, literalism: 3, empathy: 3 }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_but_the_neutral_one_says_something() {
        for of in Trait::ALL {
            for level in 1..=5 {
                assert_eq!(disposition_instruction(of, level).is_none(), level == NEUTRAL);
            }
        }
    }
}

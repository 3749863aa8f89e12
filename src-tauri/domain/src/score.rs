//! Scores: numbers between two texts or of one result, never NaN. A newtype, because the exporter
//! writes a bare `f64` as `number | null`.

use serde::{Deserialize, Serialize};

/// A finite number such as a relevance or a fused rank. In TypeScript it is `number`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct Score(
    // Any number type that is exported as plain `number` will do for the page.
    #[cfg_attr(feature = "specta", specta(type = u32))] f64,
);

impl Score {
    /// A score; what is not finite counts as zero, so that comparisons are total.
    #[must_use]
    pub fn new(value: f64) -> Self {
        Self(if value.is_finite() { value } else { 0.0 })
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The score cut to four decimals, as tools show it.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self((self.0 * 10_000.0).round() / 10_000.0)
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_zero() {
        assert_eq!(Score::new(f64::NAN).get(), 0.0);
        assert_eq!(Score::new(f64::INFINITY).get(), 0.0);
        assert_eq!(Score::new(0.123_456).rounded().get(), 0.1235);
    }
}

//! What a cosine means. Each model spreads its cosines over another range, so the numbers that
//! rules compare with stand here, with the embedder, and the rules only name them.

use serde::{Deserialize, Serialize};

/// The similarity values of one embedder. All are cosines of unit vectors and settings: a bank may
/// carry its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// A memory may enter the semantic list of a recall.
    pub semantic_floor: f32,
    /// A memory in the asked time window may become an entry point of the temporal way.
    pub temporal_entry: f32,
    /// Two memories get a stored semantic link.
    pub stored_link: f32,
    /// A mental model answers the question well enough for an early release.
    pub model_relevance: f32,
    /// Below this the best statement found is not about the question (extractive mode).
    pub nothing_found: f32,
    /// Two statements speak of the same subject (extractive mode).
    pub same_subject: f32,
    /// Two statements say the same (extractive mode).
    pub near_twin: f32,
    /// A pair is put before the model as possible duplicates (consolidation).
    pub consolidation_twin: f32,
    /// What two unrelated texts typically have; the zero of [`Thresholds::scale`].
    pub unrelated: f32,
}

impl Thresholds {
    /// The range that the rules' own numbers were written for: all-MiniLM-L6-v2, and near enough
    /// most embedders trained with a plain contrastive loss.
    pub const COMMON: Self = Self {
        semantic_floor: 0.30,
        temporal_entry: 0.10,
        stored_link: 0.70,
        model_relevance: 0.50,
        nothing_found: 0.35,
        same_subject: 0.80,
        near_twin: 0.92,
        consolidation_twin: 0.97,
        unrelated: 0.23,
    };

    /// The multilingual-e5 family, whose cosines lie close together: unrelated 0.77, the right
    /// passage 0.83 to 0.93, paraphrases 0.96 to 0.98.
    ///
    /// Checked with the bundled model on the 16 answerable English questions and the 40 in other
    /// languages about a project history of some 550 sentences: the best passage had at least 0.814
    /// each time; of 26 questions about something else 21 stayed below 0.81 and 16 below 0.80. The
    /// floor kept every answer's sentence but one, at 0.784. Two random sentences of that text have
    /// 0.79 in the middle and 0.90 in one of a hundred pairs.
    pub const E5: Self = Self {
        semantic_floor: 0.785,
        temporal_entry: 0.75,
        stored_link: 0.90,
        model_relevance: 0.83,
        nothing_found: 0.81,
        same_subject: 0.93,
        near_twin: 0.965,
        consolidation_twin: 0.985,
        unrelated: 0.77,
    };

    /// The hashing embedder, which sees spelling alone: two sentences on one subject that share no
    /// word are as far apart as unrelated ones. On the same text the best passage had at least 0.39
    /// for an answerable question, and two random sentences 0.07 in the middle and 0.41 in one of a
    /// hundred pairs.
    pub const HASH: Self = Self {
        semantic_floor: 0.15,
        temporal_entry: 0.05,
        stored_link: 0.50,
        model_relevance: 0.40,
        nothing_found: 0.30,
        same_subject: 0.65,
        near_twin: 0.88,
        consolidation_twin: 0.95,
        unrelated: 0.05,
    };

    /// A cosine on the scale from unrelated (0) to equal (1), for rules that mix it with other
    /// scores.
    #[must_use]
    pub fn scale(&self, cosine: f32) -> f32 {
        ((cosine - self.unrelated) / (1.0 - self.unrelated)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_runs_from_unrelated_to_equal() {
        let t = Thresholds::E5;
        assert_eq!(t.scale(0.5), 0.0);
        assert_eq!(t.scale(t.unrelated), 0.0);
        assert_eq!(t.scale(1.0), 1.0);
        assert!((t.scale(0.885) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn stricter_rules_have_higher_values() {
        for t in [Thresholds::COMMON, Thresholds::E5, Thresholds::HASH] {
            assert!(t.temporal_entry < t.semantic_floor);
            assert!(t.semantic_floor <= t.nothing_found);
            assert!(t.nothing_found < t.model_relevance);
            assert!(t.model_relevance < t.stored_link);
            assert!(t.stored_link < t.same_subject);
            assert!(t.same_subject < t.near_twin);
            assert!(t.near_twin < t.consolidation_twin);
        }
    }
}

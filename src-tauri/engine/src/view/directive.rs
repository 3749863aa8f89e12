//! Directives as the page shows and states them.

use domain::Json;
use domain::trace::{DirectiveRef, HeldBackDirective};
use serde::{Deserialize, Serialize};

/// A directive to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewDirective {
    /// Its name; may be blank, then only the rule is told.
    #[serde(default)]
    pub name: String,
    /// The rule.
    pub content: String,
    /// Higher first; 0 when absent.
    #[serde(default)]
    pub priority: Option<i32>,
    /// Whether it is switched on; it is when absent.
    #[serde(default)]
    pub is_active: Option<bool>,
    /// Its tags; none for a rule that holds everywhere.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What changes of a directive; absent parts stay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DirectivePatch {
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
    /// The rule.
    #[serde(default)]
    pub content: Option<String>,
    /// Higher first.
    #[serde(default)]
    pub priority: Option<i32>,
    /// Whether it is switched on.
    #[serde(default)]
    pub is_active: Option<bool>,
    /// Its tags.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
}

/// The part of a question that decides which directives hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DirectiveScope {
    /// Tags of the question.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// How they are matched; `any` when absent.
    #[serde(default)]
    pub tags_match: Option<String>,
    /// Expressions over tags in their place, all of which must hold.
    #[serde(default)]
    pub tag_groups: Option<Vec<Json>>,
    /// Every active directive, whatever its tags.
    #[serde(default)]
    pub apply_all_directives: bool,
}

/// Which directives a question would obey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DirectivesInScope {
    /// Those that hold, in the order in which they are told.
    pub in_force: Vec<DirectiveRef>,
    /// The others, and why.
    pub held_back: Vec<HeldBackDirective>,
}

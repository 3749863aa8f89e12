//! Reading what a language model writes when it calls a tool: names with stray prefixes, arguments
//! as text or object, numbers as words, repeated ids. Tolerant where the meaning is plain, an error
//! for the language model where it is not. Nothing here runs a tool.

/// Search over mental models.
pub const SEARCH_MENTAL_MODELS: &str = "search_mental_models";
/// Search over observations.
pub const SEARCH_OBSERVATIONS: &str = "search_observations";
/// Search over facts.
pub const RECALL: &str = "recall";
/// Opens sources by id.
pub const EXPAND: &str = "expand";
/// Hands over the answer.
pub const DONE: &str = "done";

/// The searches, in the order in which they are forced.
pub const RETRIEVAL_TOOLS: [&str; 3] = [SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL];
/// Every tool there is.
pub const ALL_TOOLS: [&str; 5] = [SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL, EXPAND, DONE];

/// The name of a tool without the prefixes and special-token tails that some endpoints leave on it.
/// No case folding and no guessing.
#[must_use]
pub fn normalize_tool_name(name: &str) -> &str {
    let name = name.trim();
    let name = name.strip_prefix("call=").unwrap_or(name);
    let name = name.strip_prefix("functions.").unwrap_or(name);
    name.split("<|").next().unwrap_or(name).trim()
}

//! The texts that language models are given. Each lies in `prompts/<purpose>.<role>.md` with its
//! `{{placeholders}}` and is declared here; a test holds the two together. Rendering puts values in
//! as they are: fencing text of others is the business of whoever renders.

use crate::Result;
use crate::report::fault;
use sha2::{Digest, Sha256};

/// One prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prompt {
    /// `<purpose>.<role>`.
    pub(crate) name: &'static str,
    text: &'static str,
    placeholders: &'static [&'static str],
}

macro_rules! prompts {
    ($($(#[$doc:meta])* $constant:ident = $file:literal ($($key:literal),* $(,)?);)+) => {
        $(
            $(#[$doc])*
            pub(crate) const $constant: Prompt = Prompt {
                name: $file,
                text: include_str!(concat!("../prompts/", $file, ".md")),
                placeholders: &[$($key),*],
            };
        )+
        /// Every prompt there is.
        #[cfg(test)]
        pub(crate) const ALL: &[Prompt] = &[$($constant),+];
    };
}

prompts! {
    /// Instructions of the loop.
    REFLECT_SYSTEM = "reflect.system" (
        "directives", "role", "language", "levels", "depth", "workflow", "output", "now", "bank",
        "context", "reminder",
    );
    /// Instructions of the synthesis.
    REFLECT_FINAL_SYSTEM = "reflect_final.system" (
        "directives", "role", "fence", "nothing", "language", "now", "reminder",
    );
    /// The synthesis itself.
    REFLECT_FINAL_USER = "reflect_final.user" ("bank", "fence", "material", "question", "task");
    /// Instructions for taking claims out of a part of the evidence.
    REFLECT_MAP_SYSTEM = "reflect_map.system" ("fence", "nothing");
    /// One part.
    REFLECT_MAP_USER = "reflect_map.user" ("question", "part", "parts", "fence", "material");
    /// Instructions for shortening.
    REFLECT_REWRITE_SYSTEM = "reflect_rewrite.system" ("fence", "form");
    /// What to shorten.
    REFLECT_REWRITE_USER = "reflect_rewrite.user" ("tokens", "fence", "text");
    /// Instructions for judging a text by the directives.
    DIRECTIVE_CHECK_SYSTEM = "directive_check.system" ("fence", "rules");
    /// A text by itself: to be judged, or corrected.
    DIRECTIVE_CHECK_USER = "directive_check.user" ("fence", "text");
    /// Instructions for correcting a text that breaks a directive.
    DIRECTIVE_REWRITE_SYSTEM = "directive_rewrite.system" ("fence", "form", "rules");
    /// Instructions for editing a document.
    DELTA_SYSTEM = "delta.system" ("fence");
    /// What to edit from what.
    DELTA_USER = "delta.user" (
        "topic", "now", "fence", "document", "outline", "synthesis", "facts", "guidance", "size",
        "budget", "pressure", "answer",
    );
    /// The one request for corrections.
    DELTA_REPAIR_USER = "delta_repair.user" ("problems", "fence", "ids", "sections");
    /// Instructions for taking back what withdrawn facts said.
    UNSAY_SYSTEM = "unsay.system" ("fence");
    /// What to take back from what.
    UNSAY_USER = "unsay.user" (
        "topic", "now", "fence", "document", "outline", "withdrawn", "standing",
    );
    /// Instructions for folding facts into observations.
    CONSOLIDATE_SYSTEM = "consolidate.system" ();
    /// What to fold into what.
    CONSOLIDATE_USER = "consolidate.user" (
        "mission", "language", "slots", "note", "fence", "facts", "observations",
    );
    /// Instructions for judging two near observations.
    CONSOLIDATE_DEDUP_SYSTEM = "consolidate_dedup.system" ();
    /// The two.
    CONSOLIDATE_DEDUP_USER = "consolidate_dedup.user" ("fence", "new", "stored");
    /// Instructions for structured output.
    STRUCTURED_SYSTEM = "structured.system" ("fence");
    /// What to fill in from what.
    STRUCTURED_USER = "structured.user" ("schema", "fields", "fence", "text", "problems");
}

impl Prompt {
    /// The text with its values, which must be exactly those that are declared.
    ///
    /// # Errors
    /// `unexpected_error`: a key is missing or unknown, which is a mistake in this program.
    pub(crate) fn render(&self, values: &[(&str, &str)]) -> Result<String> {
        for (key, _) in values {
            if !self.placeholders.contains(key) {
                return Err(self.mistake("unknown", key));
            }
        }
        let mut out = String::with_capacity(self.text.len());
        for part in parts(self.text) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Key(key) => match values.iter().find(|(given, _)| *given == key) {
                    Some((_, value)) => out.push_str(value),
                    None => return Err(self.mistake("missing", key)),
                },
            }
        }
        Ok(out.trim_end().to_owned())
    }

    /// The first half of the SHA-256 of its wording, so that a record says which one ran.
    pub(crate) fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes())[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn mistake(&self, what: &str, key: &str) -> crate::Error {
        let name = self.name;
        fault("unexpected_error").detail(format!("prompt {name}: {what} value {key}")).into()
    }
}

enum Part<'a> {
    Text(&'a str),
    Key(&'a str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let Some(close) = rest[open..].find("}}") else { break };
        parts.push(Part::Text(&rest[..open]));
        parts.push(Part::Key(&rest[open + 2..open + close]));
        rest = &rest[open + close + 2..];
    }
    parts.push(Part::Text(rest));
    parts
}

/// A line that does not occur in a text of others: made from random bytes, so that nobody who wrote
/// such a text could have known it.
pub(crate) fn fence(random: [u8; 10]) -> String {
    let word: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("=====material-{word}=====")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn declared_and_used_placeholders_are_the_same() {
        let mut names = BTreeSet::new();
        for prompt in ALL {
            let declared: BTreeSet<&str> = prompt.placeholders.iter().copied().collect();
            let used: BTreeSet<&str> = parts(prompt.text)
                .into_iter()
                .filter_map(|part| if let Part::Key(key) = part { Some(key) } else { None })
                .collect();
            assert_eq!(declared, used, "{}", prompt.name);
            assert!(names.insert(prompt.name), "{} twice", prompt.name);
            assert_eq!(prompt.hash().len(), 32);
        }
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
        let files = std::fs::read_dir(folder).expect("the folder of prompts");
        for file in files {
            let name = file.expect("an entry").file_name().to_string_lossy().into_owned();
            assert!(names.contains(name.trim_end_matches(".md")), "{name} is not declared");
        }
    }

    #[test]
    fn values_are_put_in_as_they_are_and_mistakes_are_refused() {
        let values = [("fence", "{{form}}"), ("form", "the text")];
        let text = REFLECT_REWRITE_SYSTEM.render(&values).expect("all values are there");
        assert!(text.contains("`{{form}}`") && text.contains("only the text."));
        assert!(REFLECT_REWRITE_SYSTEM.render(&values[..1]).is_err());
        assert!(REFLECT_MAP_SYSTEM.render(&[("fence", ""), ("nothing", ""), ("x", "")]).is_err());
    }
}

//! The length of an answer. A text that stays too long after one rewrite is cut where a reader would
//! stop: after a whole block, else after a whole sentence. A document is never cut.

use unicode_segmentation::UnicodeSegmentation;

use crate::tokens::TokenCounter;
use crate::trace::Warning;

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerForm {
    /// Markdown for a reader.
    Text,
    /// A document with sections, which is stored.
    Document,
}

/// An answer within its limit, or as near to it as may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedAnswer {
    /// The text to use.
    pub text: String,
    /// Set when it was cut (`answer_truncated`) or is still too long (`over_budget`).
    pub warning: Option<Warning>,
}

/// Brings an answer within `max_tokens`, given the outcome of the one rewrite (none when there was
/// none, or it failed). The shorter text that is not blank wins.
#[must_use]
pub fn fit_length(
    answer: &str,
    rewrite: Option<&str>,
    max_tokens: u32,
    form: AnswerForm,
    tokens: &dyn TokenCounter,
) -> FittedAnswer {
    let size = tokens.count(answer);
    let shorter = rewrite
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(|text| (tokens.count(text), text))
        .filter(|(shorter, _)| size > max_tokens && *shorter < size);
    let (size, text) = shorter.unwrap_or((size, answer));
    if size <= max_tokens {
        return FittedAnswer { text: text.to_owned(), warning: None };
    }
    match form {
        AnswerForm::Document => FittedAnswer {
            text: text.to_owned(),
            warning: Some(Warning::new(
                "over_budget",
                format!("The document has {size} tokens where {max_tokens} were asked for."),
            )),
        },
        AnswerForm::Text => FittedAnswer {
            text: cut_at_block(text, max_tokens, tokens).to_owned(),
            warning: Some(Warning::new(
                "answer_truncated",
                format!("The answer was cut to {max_tokens} tokens."),
            )),
        },
    }
}

/// The longest beginning of a text within `max_tokens` that ends after a whole markdown block; if
/// the first block is already too long, after a whole sentence; if even that is too long, anywhere.
#[must_use]
pub fn cut_at_block<'a>(text: &'a str, max_tokens: u32, tokens: &dyn TokenCounter) -> &'a str {
    let text = text.trim();
    let fits = |end: &usize| tokens.count(text[..*end].trim_end()) <= max_tokens;
    let ends = block_ends(text);
    let whole: Vec<usize> = ends.iter().copied().take_while(fits).collect();
    // A heading with nothing under it would promise what was cut.
    let bare_heading = |at: &usize| {
        let start = at.checked_sub(1).map_or(0, |before| whole[before]);
        let block = text[start..whole[*at]].trim();
        block.starts_with('#') && !block.contains('\n') && whole.len() < ends.len()
    };
    if let Some(last) = (0..whole.len()).rev().find(|at| !bare_heading(at)) {
        return text[..whole[last]].trim_end();
    }
    let mut end = 0;
    let sentences = text.split_sentence_bound_indices().map(|(at, part)| at + part.len());
    for next in sentences.take_while(fits) {
        end = next;
    }
    if end == 0 { tokens.cut(text, max_tokens).trim_end() } else { text[..end].trim_end() }
}

// Where blocks end: at blank lines outside fences, and at the end.
fn block_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut at, mut fenced, mut open) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        }
        if bare.is_empty() && !fenced {
            if open {
                ends.push(at);
            }
            open = false;
        } else {
            open = true;
        }
        at += line.len();
    }
    if open {
        ends.push(text.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    // One token a word, so that limits can be read off the text.
    struct Words;

    impl TokenCounter for Words {
        fn count(&self, text: &str) -> u32 {
            u32::try_from(text.split_whitespace().count()).unwrap()
        }

        fn cut<'a>(&self, text: &'a str, max: u32) -> &'a str {
            let mut ends = text.match_indices(' ').map(|(at, _)| at).skip(max as usize - 1);
            &text[..ends.next().unwrap_or(text.len())]
        }
    }

    fn cut(text: &str, max: u32) -> &str {
        cut_at_block(text, max, &Words)
    }

    #[test]
    fn whole_blocks_then_whole_sentences_then_anywhere() {
        let text = "One two.\n\nThree four five.\n\nSix.";
        assert_eq!(cut(text, 6), text);
        assert_eq!(cut(text, 5), "One two.\n\nThree four five.");
        assert_eq!(cut(text, 4), "One two.");
        assert_eq!(cut("One two. Three four. Five.", 4), "One two. Three four.");
        assert_eq!(cut("One two three four.", 3), "One two three");
    }

    #[test]
    fn a_fence_is_one_block_and_a_bare_heading_goes() {
        let text = "Intro here.\n\n```\na\n\nb\n```\n\nEnd.";
        assert_eq!(cut(text, 4), "Intro here.");
        assert_eq!(cut("Intro here.\n\n## Next\n\nBody of it.", 5), "Intro here.");
    }

    #[test]
    fn the_shorter_text_that_is_not_blank_wins() {
        let fit = |rewrite, form| fit_length("One two three. Four five.", rewrite, 3, form, &Words);
        assert_eq!(fit(Some("Short one."), AnswerForm::Text).text, "Short one.");
        assert_eq!(fit(Some("Short one."), AnswerForm::Text).warning, None);
        let blank = fit(Some("  "), AnswerForm::Text);
        assert_eq!(blank.text, "One two three.");
        assert_eq!(blank.warning.map(|warning| warning.code).as_deref(), Some("answer_truncated"));
        let longer = fit(Some("a b c d e f g"), AnswerForm::Document);
        assert_eq!(longer.text, "One two three. Four five.");
        assert_eq!(longer.warning.map(|warning| warning.code).as_deref(), Some("over_budget"));
        let untouched = fit_length("One.", Some(""), 3, AnswerForm::Text, &Words);
        assert_eq!((untouched.text.as_str(), untouched.warning), ("One.", None));
    }
}

//! A question as tokens: words without case and accents, numbers, single marks. A character of a
//! script without blanks is a token of its own, so that one kind of pattern serves all languages.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word, a number or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Its text, lower-cased, accents removed.
    pub(super) text: String,
    /// Its value, for a number of up to nine digits.
    pub(super) number: Option<u32>,
    /// Whether it follows the one before without a blank.
    pub(super) glued: bool,
}

impl Token {
    /// How many digits a number was written with; 0 for anything else.
    pub(super) fn digits(&self) -> usize {
        if self.number.is_some() { self.text.len() } else { 0 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Ideograph,
    Mark,
    Blank,
}

fn class_of(c: char) -> Class {
    match c {
        _ if c.is_whitespace() => Class::Blank,
        '0'..='9' => Class::Digit,
        // Kana, Han and their extensions.
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}' => {
            Class::Ideograph
        }
        _ if c.is_alphanumeric() => Class::Letter,
        _ => Class::Mark,
    }
}

// What makes 5 an ordinal: English, French, Spanish and Italian, Russian.
const ORDINAL_TAILS: [&str; 11] = ["st", "nd", "rd", "th", "er", "re", "e", "o", "a", "го", "е"];

/// Tokens of a text.
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let lower = text.nfkc().collect::<String>().to_lowercase();
    let plain = lower.nfkd().filter(|c| !is_combining_mark(*c));
    let mut tokens: Vec<Token> = Vec::new();
    let mut last = Class::Blank;
    for c in plain {
        let class = class_of(c);
        let goes_on = class == last && matches!(class, Class::Letter | Class::Digit);
        match tokens.last_mut() {
            Some(token) if goes_on => token.text.push(c),
            _ if class == Class::Blank => {}
            _ => tokens.push(Token {
                text: c.to_string(),
                number: None,
                glued: last != Class::Blank,
            }),
        }
        last = class;
    }
    for token in &mut tokens {
        if token.text.starts_with(|c: char| c.is_ascii_digit()) && token.text.len() <= 9 {
            token.number = token.text.parse().ok();
        }
    }
    without_ordinal_tails(tokens)
}

fn without_ordinal_tails(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let after_day = kept.last().is_some_and(|before| (1..=2).contains(&before.digits()));
        if !(token.glued && after_day && ORDINAL_TAILS.contains(&token.text.as_str())) {
            kept.push(token);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_numbers_and_ideographs() {
        assert_eq!(texts("The 5th of Juñe, Q2"), ["the", "5", "of", "june", ",", "q", "2"]);
        assert_eq!(texts("上周３天"), ["上", "周", "3", "天"]);
        assert_eq!(texts("1er 3rd 3d"), ["1", "3", "3", "d"]);
    }
}

//! Forms of text that comparisons need: blanks collapsed, case folded, compatibility characters
//! unified. Nothing here is shown to anyone.

use icu_casemap::CaseMapper;
use unicode_normalization::UnicodeNormalization;

/// Runs of white space become one blank, those at the ends go.
#[must_use]
pub fn collapse_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// NFKC and full case folding, so that "STRASSE", "Straße" and "ｓｔｒａｓｓｅ" are one. Normalised once
/// more afterwards, since folding can leave a sequence that composes. All of it leaves ASCII alone but
/// for capitals.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let unified: String = text.nfkc().collect();
    CaseMapper::new().fold_string(&unified).nfkc().collect()
}

/// The form in which two statements are the same: folded, blanks collapsed.
#[must_use]
pub fn same_statement_key(text: &str) -> String {
    collapse_blanks(&fold(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_for_one_statement() {
        for variant in ["Straße  1", "STRASSE\n1", "ｓｔｒａｓｓｅ 1 "] {
            assert_eq!(same_statement_key(variant), "strasse 1");
        }
        assert_eq!(fold("ΣΊΣΥΦΟΣ"), fold("σίσυφος"));
        let ascii: String = (0..128_u8).map(char::from).collect();
        let slowly: String = CaseMapper::new().fold_string(&ascii).nfkc().collect();
        assert_eq!(fold(&ascii), slowly);
        assert_ne!(same_statement_key("a b"), same_statement_key("ab"));
    }
}

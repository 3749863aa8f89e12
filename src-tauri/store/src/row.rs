//! Between SQLite's values and Rust's: moments, JSON, words of closed lists, lists of keys. Nothing
//! here knows a table.

use domain::Instant;
use domain::time::{from_millis, to_millis};
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde_json::Value;

use crate::error::Result;

/// The moment of a column.
pub(crate) fn at(row: &Row<'_>, column: usize) -> rusqlite::Result<Instant> {
    row.get(column).map(from_millis)
}

/// The moment of a column that may be null.
pub(crate) fn at_opt(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Instant>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(from_millis))
}

/// Milliseconds of a moment that may be absent.
pub(crate) fn ms(at: Option<Instant>) -> Option<i64> {
    at.map(to_millis)
}

/// The JSON value of a column.
pub(crate) fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

/// The JSON value of a column that may be null.
pub(crate) fn json_opt(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Value>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|e| bad(column, e))
}

/// A value read from the JSON of a column.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

/// The JSON text of a value.
pub(crate) fn text<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// The JSON text of a value that may be absent.
pub(crate) fn text_opt<T: Serialize>(value: Option<&T>) -> Result<Option<String>> {
    value.map(text).transpose()
}

/// A list of integers as the JSON array that `json_each` unrolls. A list bound this way keeps the
/// statement's text constant, so it stays in the cache whatever the list's length.
pub(crate) fn id_list(ids: impl IntoIterator<Item = i64>) -> String {
    use std::fmt::Write as _;
    let mut out = String::from("[");
    for (n, id) in ids.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "{id}");
    }
    out.push(']');
    out
}

/// A count of rows as the unsigned number that the outside sees; negative ones (there are none in
/// a sound file) become 0.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u32> {
    Ok(u32::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn bad(column: usize, cause: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(cause))
}

/// A column that holds a word of a closed list.
#[derive(Debug, thiserror::Error)]
#[error("unknown word \"{0}\"")]
pub(crate) struct UnknownWord(pub(crate) String);

/// Declares an enum that is stored as one of a closed list of words (or small integers).
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
                 serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word that the file and the wire use.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The value of a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(self.word()))
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let word = value.as_str()?;
                Self::from_word(word).ok_or_else(|| {
                    rusqlite::types::FromSqlError::Other(Box::new($crate::row::UnknownWord(
                        word.to_owned(),
                    )))
                })
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ids_are_json() {
        assert_eq!(id_list([]), "[]");
        assert_eq!(id_list([3, -1, 7]), "[3,-1,7]");
    }
}

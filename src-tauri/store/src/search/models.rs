//! Finding mental models by words and by meaning. Which models a caller may see is decided by the
//! caller, on the models' tags.

use crate::embedders::{Embedder, bytes};
use crate::error::{Error, Result};
use crate::keys::{BankKey, ModelKey};
use crate::search::text::{every_word, unspaced_pieces};
use crate::tx::ReadTx;

/// Models whose name or content holds any word of the text, best first, at most `limit`; the score
/// is positive, greater is better.
pub fn by_words(
    tx: &ReadTx<'_>,
    bank: BankKey,
    query: &str,
    limit: usize,
) -> Result<Vec<(ModelKey, f64)>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = match every_word(query) {
        Some(words) => tx.list(
            "SELECT m.id, -bm25(fts_model, 2.0, 1.0) FROM fts_model
             CROSS JOIN mental_model m ON m.id = fts_model.rowid
             WHERE fts_model MATCH ?1 AND m.bank_id = ?2
             ORDER BY bm25(fts_model, 2.0, 1.0), m.id DESC LIMIT ?3",
            (words.trim_end_matches('*').replace("\" \"", "\" OR \""), bank, limit),
            |r| Ok((r.get(0)?, r.get(1)?)),
        )?,
        None => Vec::new(),
    };
    for piece in unspaced_pieces(query) {
        let more: Vec<ModelKey> = tx.list(
            "SELECT id FROM mental_model
             WHERE bank_id = ?1 AND instr(name || ' ' || content, ?2) > 0
             ORDER BY id DESC LIMIT ?3",
            (bank, piece, limit),
            |r| r.get(0),
        )?;
        for key in more {
            if !found.iter().any(|(known, _)| *known == key) {
                found.push((key, 0.1));
            }
        }
    }
    Ok(found)
}

/// Models nearest to a vector, best first, at most `limit`; the score is the cosine.
///
/// # Errors
/// `DimensionMismatch`.
pub fn by_meaning(
    tx: &ReadTx<'_>,
    bank: BankKey,
    embedder: &Embedder,
    query: &[f32],
    limit: usize,
) -> Result<Vec<(ModelKey, f64)>> {
    if query.len() != embedder.dim {
        return Err(Error::DimensionMismatch { got: query.len(), want: embedder.dim });
    }
    tx.list(
        &format!(
            "SELECT model_id, distance FROM {} WHERE e MATCH ?1 AND k = ?2 AND bank = ?3
             ORDER BY distance",
            embedder.key.model_table()
        ),
        (bytes(query), i64::try_from(limit.min(4096)).unwrap_or(1), bank),
        |r| Ok((r.get(0)?, 1.0 - r.get::<_, f64>(1)?)),
    )
}

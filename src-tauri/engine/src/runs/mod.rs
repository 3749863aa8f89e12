//! Looking back at runs: what was sent to a language model, and a run as text or as a file that may
//! leave the program. Reads records alone; starts nothing and changes nothing in the bank.

mod recorded;
mod text;

use crate::handle::read_bank;
use crate::report::fault;
use crate::view::reflect::{RecordedCall, RunPart, RunText, SavedRun};
use crate::{Engine, Error, Result};
use domain::{BankId, FieldFault, RunId};

/// One request of a run as it is on record: the `nth` (from 0) of those with this label. None when
/// it is no longer kept.
///
/// # Errors
/// `bank_not_found`.
pub async fn recorded_call(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
    scope: &str,
    nth: u32,
) -> Result<Option<RecordedCall>> {
    let (run, scope) = (run.clone(), scope.to_owned());
    let nth = usize::try_from(nth).unwrap_or(usize::MAX);
    read_bank(engine, bank, move |tx, key| {
        let label = scope.strip_suffix("_err").unwrap_or(&scope);
        let found = store::llm_requests::of_run(tx, &run)?
            .into_iter()
            .filter(|row| row.bank == Some(key) && row.scope == label)
            .nth(nth);
        let Some(row) = found else { return Ok(None) };
        Ok(Some(recorded::call(store::llm_requests::get(tx, &row.id)?)))
    })
    .await
}

/// A question as text: the answer with its sources, or the whole record. Holds no key, and nothing
/// of what must stay on this machine.
///
/// # Errors
/// `bank_not_found`, `run_not_found`.
pub async fn as_text(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
    part: RunPart,
) -> Result<RunText> {
    let view = crate::reflect::get_run(engine, bank, run).await?;
    read_bank(engine, bank, move |tx, key| {
        let private = text::private(tx, key, &view)?;
        Ok(text::write(&view, part, &private))
    })
    .await
}

/// Writes a question into a folder under a name of its own; no file is ever written over.
///
/// # Errors
/// `invalid_request` when the folder cannot be used, `bank_not_found`, `run_not_found`.
pub async fn save(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
    part: RunPart,
    folder: &str,
) -> Result<SavedRun> {
    let RunText { text, withheld } = as_text(engine, bank, run, part).await?;
    let query = crate::reflect::get_run(engine, bank, run).await?.request.query;
    let data = engine.inner.config.folder.clone();
    let folder = folder.trim().to_owned();
    let written = tokio::task::spawn_blocking(move || -> Result<String> {
        let stem = text::file_stem(&query);
        for twin in 1..1000 {
            let name = text::file_name(&stem, twin, part);
            let place = std::path::Path::new(&folder).join(name);
            let path = place.to_str().unwrap_or_default();
            let path = crate::models::published::file::check(path, &data).map_err(refused)?;
            if path.exists() {
                continue;
            }
            crate::models::published::file::put(&path, text.as_bytes())
                .map_err(|source| Error::Io { path: path.display().to_string(), source })?;
            return Ok(path.display().to_string());
        }
        Err(refused(FieldFault::new("folder", "out_of_range", "Choose an emptier folder.")))
    });
    let path = written.await.map_err(|error| fault("unexpected_error").detail(error))??;
    Ok(SavedRun { path, withheld })
}

fn refused(why: FieldFault) -> Error {
    let field = FieldFault::new("folder", &why.code, why.message);
    fault("invalid_request").fields(vec![field]).into()
}

//! Program-wide settings that are not about language models: the status of the program, how it
//! looks, which bank is open, whether the first run is over.

use crate::view::Bytes;
use crate::view::app::{AppStatus, DataFolder, EmbedderStatus};
use crate::view::settings::Look;
use crate::{Engine, Result};
use domain::BankId;
use domain::bank::{BankSettings, StatedSettings};
use serde_json::json;
use store::banks::Bank;
use store::{ReadTx, banks, settings};

/// Setting under which the program's own values of bank settings stand.
const BANK_SETTINGS: &str = "bank_settings";

/// Setting: how the page looks.
const LOOK: &str = "look";
/// Setting: the bank that was open last.
const BANK: &str = "bank";
/// Setting: whether the first-run page has been left for good.
const FIRST_RUN: &str = "first_run_done";

/// The effective settings of a bank: defaults, then the program's, then its own.
pub(crate) fn of_bank(tx: &ReadTx<'_>, bank: &Bank) -> store::Result<BankSettings> {
    let program = settings::get(tx, BANK_SETTINGS)?.unwrap_or_default();
    Ok(BankSettings::resolve(
        &StatedSettings::from_stored(&program),
        &StatedSettings::from_stored(&bank.config),
    ))
}

/// What the page needs to know before it draws anything.
///
/// # Errors
/// Those of reading.
pub async fn status(engine: &Engine) -> Result<AppStatus> {
    let (bank, sample, ready, done) = engine
        .store()
        .read(|tx| {
            let all = banks::list(tx)?;
            let last = settings::get(tx, BANK)?
                .and_then(|value| value.as_str().map(BankId::from))
                .filter(|id| all.iter().any(|bank| &bank.id == id));
            let sample = all
                .iter()
                .map(|bank| bank.id.clone())
                .find(|id| id.as_str() == crate::banks::SAMPLE_BANK);
            let bank =
                last.or_else(|| sample.clone()).or_else(|| all.first().map(|bank| bank.id.clone()));
            let done = settings::get(tx, FIRST_RUN)?.and_then(|value| value.as_bool());
            let ready = sample.is_none() || crate::banks::sample::is_complete(tx)?;
            Ok((bank, sample, ready, done.unwrap_or(false)))
        })
        .await?;
    let embedder = engine.embedder();
    Ok(AppStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_folder: engine.inner.config.folder.display().to_string(),
        blocked: None,
        answering: crate::endpoints::answering(engine).await?,
        embedder: EmbedderStatus {
            name: embedder.name().to_owned(),
            dim: u32::try_from(embedder.dim()).unwrap_or(u32::MAX),
            ready: true,
            problem: None,
        },
        bank,
        sample_bank: sample,
        sample_ready: ready,
        first_run_done: done,
    })
}

/// Theme, text size and keys.
///
/// # Errors
/// Those of reading.
pub async fn look(engine: &Engine) -> Result<Look> {
    let stored = engine.store().read(|tx| settings::get(tx, LOOK)).await?;
    Ok(stored.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default())
}

/// Keeps theme, text size (50 to 300 percent) and keys.
///
/// # Errors
/// Those of writing.
pub async fn set_look(engine: &Engine, look: Look) -> Result<Look> {
    let look = Look { text_zoom: look.text_zoom.clamp(50, 300), ..look };
    let (value, now) = (json!(look), engine.now());
    engine.store().write("set_look", move |tx| settings::set(tx, LOOK, &value, now)).await?;
    Ok(look)
}

/// Remembers the bank that is open.
///
/// # Errors
/// `bank_not_found`.
pub async fn open_bank(engine: &Engine, bank: &BankId) -> Result<()> {
    let (bank, now) = (bank.clone(), engine.now());
    engine
        .store()
        .write("open_bank", move |tx| {
            banks::key(tx, &bank)?;
            settings::set(tx, BANK, &json!(bank.0), now)
        })
        .await?;
    Ok(())
}

/// Leaves the first-run page for good.
///
/// # Errors
/// Those of writing.
pub async fn finish_first_run(engine: &Engine) -> Result<()> {
    let now = engine.now();
    engine
        .store()
        .write("finish_first_run", move |tx| settings::set(tx, FIRST_RUN, &json!(true), now))
        .await?;
    Ok(())
}

/// The data folder in numbers.
///
/// # Errors
/// None at present; a file that is not there counts as empty.
pub async fn data_folder(engine: &Engine) -> Result<DataFolder> {
    let folder = engine.inner.config.folder.clone();
    let size = ["", "-wal", "-shm"]
        .iter()
        .filter_map(|end| {
            let path = folder.join(format!("{}{end}", store::FILE_NAME));
            std::fs::metadata(path).ok().map(|meta| meta.len())
        })
        .sum();
    Ok(DataFolder { path: folder.display().to_string(), size: Bytes(size) })
}

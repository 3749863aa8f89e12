//! Settings that are not about language models: what the program and a bank state, the status of the
//! program, how it looks, which bank is open, whether the first run is over.

use crate::handle::read_bank;
use crate::report::fault;
use crate::view::Bytes;
use crate::view::app::{AppStatus, DataFolder, EmbedderStatus};
use crate::view::settings::{Look, SettingValues};
use crate::{Engine, Error, Result};
use domain::bank::{
    BankSettings, SettingFault, SettingGroup, SettingInfo, SettingKind, StatedSettings, catalogue,
};
use domain::schedule::DEFAULT_TICK_SECONDS;
use domain::{BankId, Instant, Json};
use serde_json::{Map, Value, json};
use store::banks::Bank;
use store::settings::BANK_SETTINGS;
use store::{BankKey, ReadTx, banks, settings};

/// A look at the schedules once a day at least, if at all.
const LONGEST_TICK: u64 = 86_400;

/// Setting: seconds between two looks at the schedules; 0 looks never.
const TICK: &str = "cron_tick_seconds";
/// Setting: whether a person has paused what starts by itself.
const PAUSED: &str = "background_paused";

/// Setting: how the page looks.
const LOOK: &str = "look";
/// Setting: the bank that was open last.
const BANK: &str = "bank";
/// Setting: whether the first-run page has been left for good.
const FIRST_RUN: &str = "first_run_done";

/// The effective settings of a bank: defaults, then the program's, then its own.
pub(crate) fn of_bank(tx: &ReadTx<'_>, bank: &Bank) -> store::Result<BankSettings> {
    settings::of_bank(tx, bank)
}

/// What the program states for all banks.
pub(crate) fn program_stated(tx: &ReadTx<'_>) -> store::Result<StatedSettings> {
    Ok(StatedSettings::from_stored(&settings::get(tx, BANK_SETTINGS)?.unwrap_or_default()))
}

/// Seconds between two looks at the schedules.
pub(crate) fn tick_seconds(tx: &ReadTx<'_>) -> store::Result<u32> {
    let stated = settings::get(tx, TICK)?.and_then(|value| value.as_u64());
    Ok(stated.and_then(|n| u32::try_from(n).ok()).unwrap_or(DEFAULT_TICK_SECONDS))
}

/// Whether a person has paused what starts by itself.
pub(crate) fn background_paused(tx: &ReadTx<'_>) -> store::Result<bool> {
    Ok(settings::get(tx, PAUSED)?.and_then(|value| value.as_bool()).unwrap_or(false))
}

/// The settings of a bank: what it states, what is in force, and the tokens of today.
///
/// # Errors
/// `bank_not_found`.
pub async fn of(engine: &Engine, bank: &BankId) -> Result<SettingValues> {
    let now = engine.now();
    read_bank(engine, bank, move |tx, key| {
        let bank = banks::by_key(tx, key)?;
        Ok(SettingValues {
            settings: catalogue(),
            stated: Json(StatedSettings::from_stored(&bank.config).to_json()),
            effective: json_of(&of_bank(tx, &bank)?),
            tokens_today: tokens(tx, Some(key), now)?,
            ceiling_reached: crate::ops::ceiling::reached(tx, &bank, now)?,
        })
    })
    .await
}

/// States settings of a bank; null takes one back. What they held back is looked at anew.
///
/// # Errors
/// `bank_not_found`, `unknown_setting`, `setting_out_of_range`; `invalid_request` for several.
pub async fn set_of(engine: &Engine, bank: &BankId, patch: Json) -> Result<SettingValues> {
    let (patch, now, id, writer) = (object(patch)?, engine.now(), bank.clone(), engine.clone());
    engine
        .store()
        .write_as("set_bank_settings", move |tx| {
            let bank = banks::get(tx, &id)?;
            let stated = StatedSettings::from_stored(&bank.config).patched(&patch);
            let stated = stated.map_err(refused)?;
            banks::set_config(tx, bank.key, &stated.to_json(), now)?;
            crate::memory::consolidate::seal(tx, &writer, bank.key, now)?;
            Ok::<_, Error>(())
        })
        .await?;
    crate::ops::wake(engine);
    of(engine, bank).await
}

/// The program's own settings: `cron_tick_seconds`, `background_paused`, and what it states for all
/// banks.
///
/// # Errors
/// Those of reading.
pub async fn program(engine: &Engine) -> Result<SettingValues> {
    let now = engine.now();
    let values = engine.store().read(move |tx| {
        let stated = program_stated(tx)?;
        let mut effective = json_of(&BankSettings::resolve(&stated, &StatedSettings::default()));
        let mut stated = stated.to_json();
        for key in [TICK, PAUSED] {
            if let (Some(value), Some(all)) = (settings::get(tx, key)?, stated.as_object_mut()) {
                all.insert(key.to_owned(), value);
            }
        }
        if let Some(all) = effective.0.as_object_mut() {
            all.insert(TICK.to_owned(), json!(tick_seconds(tx)?));
            all.insert(PAUSED.to_owned(), json!(background_paused(tx)?));
        }
        Ok(SettingValues {
            settings: of_program().into_iter().chain(catalogue()).collect(),
            stated: Json(stated),
            effective,
            tokens_today: tokens(tx, None, now)?,
            ceiling_reached: crate::ops::ceiling::reached_by_program(tx, now)?,
        })
    });
    Ok(values.await?)
}

/// States settings of the program; null takes one back.
///
/// # Errors
/// As [`set_of`].
pub async fn set_program(engine: &Engine, patch: Json) -> Result<SettingValues> {
    let (mut patch, now, writer) = (object(patch)?, engine.now(), engine.clone());
    let tick = patch.remove(TICK);
    let paused = patch.remove(PAUSED);
    engine
        .store()
        .write_as("set_program_settings", move |tx| {
            let mut faults = Vec::new();
            let within = |value: &Value| value.as_u64().is_some_and(|n| n <= LONGEST_TICK);
            if tick.as_ref().is_some_and(|value| !value.is_null() && !within(value)) {
                faults.push(out_of_range(TICK));
            }
            if paused.as_ref().is_some_and(|value| !value.is_null() && !value.is_boolean()) {
                faults.push(out_of_range(PAUSED));
            }
            let stated = match program_stated(tx)?.patched(&patch) {
                Ok(stated) if faults.is_empty() => stated,
                Ok(_) => return Err(refused(faults)),
                Err(more) => return Err(refused(faults.into_iter().chain(more).collect())),
            };
            settings::set(tx, BANK_SETTINGS, &stated.to_json(), now)?;
            for bank in banks::list(tx)? {
                crate::memory::consolidate::seal(tx, &writer, bank.key, now)?;
            }
            for (key, value) in [(TICK, tick), (PAUSED, paused)] {
                match value {
                    None => {}
                    Some(Value::Null) => settings::clear(tx, key)?,
                    Some(value) => settings::set(tx, key, &value, now)?,
                }
            }
            Ok(())
        })
        .await?;
    crate::ops::wake(engine);
    program(engine).await
}

/// The settings that only the program has.
fn of_program() -> [SettingInfo; 2] {
    let info = |key: &str, kind, default| SettingInfo {
        key: key.to_owned(),
        group: SettingGroup::MentalModels,
        kind,
        allowed: allowed(key).to_owned(),
        words: Vec::new(),
        default: Json(default),
    };
    [
        info(TICK, SettingKind::Whole, json!(DEFAULT_TICK_SECONDS)),
        info(PAUSED, SettingKind::Flag, json!(false)),
    ]
}

fn allowed(key: &str) -> &'static str {
    if key == TICK { "whole numbers from 0 to 86400" } else { "true or false" }
}

fn out_of_range(key: &str) -> SettingFault {
    SettingFault::OutOfRange { key: key.to_owned(), allowed: allowed(key).to_owned() }
}

fn object(patch: Json) -> Result<Map<String, Value>> {
    match patch.0 {
        Value::Object(map) if map.is_empty() => Err(fault("nothing_to_change").into()),
        Value::Object(map) => Ok(map),
        _ => Err(fault("nothing_to_change").into()),
    }
}

fn refused(faults: Vec<SettingFault>) -> Error {
    let fields = faults.iter().map(SettingFault::field).collect();
    match faults.as_slice() {
        [one] => {
            let report = fault(one.reason()).with("key", one.key()).fields(fields);
            match one {
                SettingFault::OutOfRange { allowed, .. } => report.with("range", allowed).into(),
                SettingFault::Unknown { .. } => report.into(),
            }
        }
        _ => fault("invalid_request").fields(fields).into(),
    }
}

fn json_of(settings: &BankSettings) -> Json {
    Json(serde_json::to_value(settings).unwrap_or_default())
}

/// The tokens of the day; a number that a page can hold.
fn tokens(tx: &ReadTx<'_>, bank: Option<BankKey>, now: Instant) -> store::Result<u32> {
    let spent = store::llm_requests::tokens_on(tx, bank, now)?;
    Ok(u32::try_from(spent).unwrap_or(u32::MAX))
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

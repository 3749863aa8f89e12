//! Endpoints of language models: find, store, check, choose; what was learnt about them. Keys pass
//! through on their way to the key store and are shown as their last four characters only.

mod learnt;
pub(crate) mod provider;
mod stated;
mod waiting;

pub(crate) use provider::Chosen;

use crate::models::automatic;
use crate::report::fault;
use crate::view::settings::{
    CheckLine, CheckReport, CheckVerdict, EndpointView, FoundServer, KeyState, KeyStore,
    LlmSettings, Protocol, SaveEndpoint,
};
use crate::{Engine, Result};
use domain::{EndpointId, FieldFault};
use stated::Stated;
use std::sync::Arc;
use std::time::Duration;
use store::endpoints::{Endpoint, EndpointFields};
use store::settings::SecretStore as Place;
use store::{ReadTx, settings};
use tokio_util::sync::CancellationToken;

/// Setting: id of the endpoint that answers.
const CHOICE: &str = "llm_endpoint";
/// Setting: whether extractive mode answers while there is none.
const EXTRACTIVE: &str = "extractive";

/// How long a place on this machine may take to answer a question.
const FIND_LIMIT: Duration = Duration::from_millis(800);

fn choice(tx: &ReadTx<'_>) -> store::Result<Option<EndpointId>> {
    Ok(settings::get(tx, CHOICE)?.and_then(|value| value.as_str().map(EndpointId::from)))
}

fn extractive_on(tx: &ReadTx<'_>) -> store::Result<bool> {
    Ok(settings::get(tx, EXTRACTIVE)?.and_then(|value| value.as_bool()).unwrap_or(true))
}

fn place_of(place: Place) -> KeyStore {
    match place {
        Place::Keychain => KeyStore::Keychain,
        Place::File => KeyStore::File,
        Place::Env => KeyStore::Env,
    }
}

fn protocol_view(protocol: store::endpoints::Protocol) -> Protocol {
    match provider::protocol_of(protocol) {
        llm::Protocol::OpenAi => Protocol::Openai,
        llm::Protocol::Anthropic => Protocol::Anthropic,
        llm::Protocol::Ollama => Protocol::Ollama,
    }
}

fn stored_protocol(protocol: Protocol) -> store::endpoints::Protocol {
    match protocol {
        Protocol::Openai => store::endpoints::Protocol::OpenAi,
        Protocol::Anthropic => store::endpoints::Protocol::Anthropic,
        Protocol::Ollama => store::endpoints::Protocol::Ollama,
    }
}

fn wire_protocol(protocol: Protocol) -> llm::Protocol {
    provider::protocol_of(stored_protocol(protocol))
}

/// Endpoints of language models and extractive mode.
///
/// # Errors
/// Those of reading.
pub async fn llm_settings(engine: &Engine) -> Result<LlmSettings> {
    let secrets = Arc::clone(&engine.inner.config.secrets);
    let keychain =
        tokio::task::spawn_blocking(move || secrets.has_keychain()).await.unwrap_or(false);
    let session = Arc::clone(&engine.inner.config.secrets);
    let (endpoints, extractive) = engine
        .store()
        .read(move |tx| {
            let chosen = choice(tx)?;
            let views = store::endpoints::list(tx)?
                .into_iter()
                .map(|endpoint| view(tx, endpoint, chosen.as_ref(), session.as_ref()))
                .collect::<store::Result<Vec<_>>>()?;
            Ok((views, extractive_on(tx)?))
        })
        .await?;
    Ok(LlmSettings { endpoints, extractive, keychain })
}

fn view(
    tx: &ReadTx<'_>,
    endpoint: Endpoint,
    chosen: Option<&EndpointId>,
    secrets: &dyn crate::secrets::SecretStore,
) -> store::Result<EndpointView> {
    let stated = Stated::read(tx, &endpoint.id)?;
    let name = secret_name(&endpoint.id);
    let key = match settings::find_secret(tx, &name)? {
        Some(known) => Some(KeyState { store: place_of(known.store), last4: known.last4 }),
        None => secrets
            .get(&name, KeyStore::Session)
            .ok()
            .flatten()
            .map(|key| KeyState { store: KeyStore::Session, last4: last4(&key) }),
    };
    let learnt = store::endpoints::learnt(tx, endpoint.key, stated.llm.as_deref())?;
    let check = learnt.iter().find(|row| row.key == llm::LearntKey::SetUpCheck.word());
    let checked_at = check.map(|row| row.learned_at);
    let check = check
        .and_then(|row| serde_json::from_value::<llm::CheckReport>(row.value.clone()).ok())
        .map(report_view);
    let address = llm::Address::parse(&endpoint.base_url, provider::protocol_of(endpoint.protocol));
    let usual = address.as_ref().map(|address| llm::Limits::for_address(address).call.as_secs());
    Ok(EndpointView {
        window: stated.window,
        call_seconds: stated.call_seconds,
        usual_call_seconds: usual.ok().and_then(|n| u32::try_from(n).ok()).unwrap_or_default(),
        in_use: chosen == Some(&endpoint.id),
        local: address.is_ok_and(|address| address.is_local()),
        id: endpoint.id,
        name: endpoint.name,
        protocol: protocol_view(endpoint.protocol),
        base_url: endpoint.base_url,
        llm: stated.llm,
        key,
        learnt: learnt.iter().filter_map(learnt::told).collect(),
        check,
        checked_at,
    })
}

/// The last four characters; of a short key none, so that nothing of it is given away.
fn last4(key: &str) -> String {
    let chars: Vec<char> = key.trim().chars().collect();
    if chars.len() < 12 { "…".to_owned() } else { chars[chars.len() - 4..].iter().collect() }
}

/// Looks for servers on this machine.
///
/// # Errors
/// None at present; a place that does not answer is left out.
pub async fn discover(_engine: &Engine) -> Result<Vec<FoundServer>> {
    let found = llm::discover(&llm::PLACES, FIND_LIMIT, &CancellationToken::new()).await;
    Ok(found
        .into_iter()
        .map(|server| FoundServer {
            name: server.name,
            protocol: match server.protocol {
                llm::Protocol::OpenAi => Protocol::Openai,
                llm::Protocol::Anthropic => Protocol::Anthropic,
                llm::Protocol::Ollama => Protocol::Ollama,
            },
            base_url: server.base_url,
            llms: server
                .models
                .into_iter()
                .filter(|model| !model.embeds)
                .map(|model| model.name)
                .collect(),
        })
        .collect())
}

/// Stores an endpoint; its key goes to the key store before anything is written.
///
/// # Errors
/// `invalid_request` with the fields, `endpoint_address_invalid`, `keychain_unavailable`, `io`.
pub async fn save(engine: &Engine, input: SaveEndpoint) -> Result<EndpointView> {
    if input.name.trim().is_empty() {
        let fault_of = FieldFault::new("name", "blank", "Must not be empty.");
        return Err(fault("invalid_request").fields(vec![fault_of]).into());
    }
    llm::Address::parse(&input.base_url, wire_protocol(input.protocol))?;
    let faults = stated::faults(&input);
    if !faults.is_empty() {
        return Err(fault("invalid_request").fields(faults).into());
    }
    let id = input.id.clone().unwrap_or_else(|| EndpointId(engine.new_id()));
    let kept = keep_key(engine, &id, &input).await?;
    let (now, fields) = (engine.now(), input);
    let wanted = id.clone();
    engine
        .store()
        .write("save_endpoint", move |tx| {
            let old = store::endpoints::list(tx)?.into_iter().find(|known| known.id == wanted);
            let secret = match &kept {
                KeyChange::Same => old.as_ref().and_then(|old| old.secret_name.clone()),
                // A key of this run only leaves no trace in the file.
                KeyChange::Gone | KeyChange::Session => None,
                KeyChange::Kept(place, last4) => {
                    settings::set_secret(tx, &secret_name(&wanted), *place, last4, now)?;
                    Some(secret_name(&wanted))
                }
            };
            let stored = EndpointFields {
                name: fields.name.trim().to_owned(),
                protocol: stored_protocol(fields.protocol),
                base_url: fields.base_url.trim().to_owned(),
                secret_name: secret,
                prices: None,
            };
            match old {
                Some(_) => store::endpoints::update(tx, &wanted, &stored, now)?,
                None => {
                    store::endpoints::insert(tx, &wanted, &stored, now)?;
                }
            }
            if matches!(kept, KeyChange::Gone | KeyChange::Session) {
                settings::delete_secret(tx, &secret_name(&wanted))?;
            }
            let before = Stated::read(tx, &wanted)?;
            stated::write(tx, &wanted, &fields, now)?;
            if before.window != fields.window {
                // What was learnt of the old size would bound the new one.
                let key = store::endpoints::get(tx, &wanted)?.key;
                store::endpoints::forget_one(tx, key, llm::LearntKey::Window.word())?;
            }
            automatic::provider_changed(tx, now)
        })
        .await?;
    engine.inner.kept.clear();
    find_view(engine, &id).await
}

fn secret_name(id: &EndpointId) -> String {
    format!("endpoint:{id}")
}

/// What became of the key.
enum KeyChange {
    Same,
    Gone,
    Session,
    Kept(Place, String),
}

/// Puts a new key where the person wants it, the operating system's store first.
async fn keep_key(engine: &Engine, id: &EndpointId, input: &SaveEndpoint) -> Result<KeyChange> {
    let Some(key) = input.key.clone() else { return Ok(KeyChange::Same) };
    let key = key.trim().to_owned();
    let (secrets, name) = (Arc::clone(&engine.inner.config.secrets), secret_name(id));
    let fallback = input.key_fallback;
    tokio::task::spawn_blocking(move || {
        if key.is_empty() {
            for place in [KeyStore::Session, KeyStore::File, KeyStore::Keychain] {
                // A store that is not there holds nothing.
                drop(secrets.remove(&name, place));
            }
            return Ok(KeyChange::Gone);
        }
        let place = match fallback {
            Some(chosen) => chosen,
            None if secrets.has_keychain() => KeyStore::Keychain,
            None => return Err(fault("keychain_unavailable").into()),
        };
        secrets.put(&name, &key, place)?;
        Ok(match place {
            KeyStore::Keychain => KeyChange::Kept(Place::Keychain, last4(&key)),
            KeyStore::File => KeyChange::Kept(Place::File, last4(&key)),
            KeyStore::Env => KeyChange::Kept(Place::Env, last4(&key)),
            KeyStore::Session => KeyChange::Session,
        })
    })
    .await
    .map_err(|error| fault("unexpected_error").detail(error))?
}

async fn find_view(engine: &Engine, id: &EndpointId) -> Result<EndpointView> {
    llm_settings(engine)
        .await?
        .endpoints
        .into_iter()
        .find(|endpoint| &endpoint.id == id)
        .ok_or_else(|| fault("invalid_id").with("id", id).into())
}

async fn find_stored(engine: &Engine, id: &EndpointId) -> Result<(Endpoint, Option<String>)> {
    let wanted = id.clone();
    let found = engine
        .store()
        .read(move |tx| {
            let endpoint = store::endpoints::list(tx)?.into_iter().find(|e| e.id == wanted);
            let llm = Stated::read(tx, &wanted)?.llm;
            Ok(endpoint.map(|endpoint| (endpoint, llm)))
        })
        .await?;
    found.ok_or_else(|| fault("invalid_id").with("id", id).into())
}

/// Removes an endpoint and its key.
///
/// # Errors
/// `invalid_id`.
pub async fn delete(engine: &Engine, id: &EndpointId) -> Result<()> {
    let gone = SaveEndpoint {
        id: Some(id.clone()),
        name: String::new(),
        protocol: Protocol::Openai,
        base_url: String::new(),
        llm: None,
        window: None,
        call_seconds: None,
        key: Some(String::new()),
        key_fallback: None,
    };
    find_stored(engine, id).await?;
    keep_key(engine, id, &gone).await?;
    let id = id.clone();
    engine
        .store()
        .write("delete_endpoint", move |tx| {
            if choice(tx)?.as_ref() == Some(&id) {
                settings::clear(tx, CHOICE)?;
            }
            stated::clear(tx, &id)?;
            settings::delete_secret(tx, &secret_name(&id))?;
            store::endpoints::delete(tx, &id)
        })
        .await?;
    engine.inner.kept.clear();
    Ok(())
}

/// Chooses what answers; absent chooses extractive mode.
///
/// # Errors
/// `invalid_id`; `llm_not_configured` for an endpoint without a language model.
pub async fn choose(engine: &Engine, id: Option<&EndpointId>) -> Result<LlmSettings> {
    if let Some(id) = id {
        let (_, llm) = find_stored(engine, id).await?;
        if llm.is_none() {
            let blank = FieldFault::new("llm", "blank", "Must not be empty.");
            return Err(fault("invalid_request").fields(vec![blank]).into());
        }
    }
    let (id, now) = (id.cloned(), engine.now());
    engine
        .store()
        .write("choose_endpoint", move |tx| {
            match id {
                Some(id) => settings::set(tx, CHOICE, &serde_json::json!(id.0), now)?,
                None => settings::clear(tx, CHOICE)?,
            }
            automatic::provider_changed(tx, now)
        })
        .await?;
    engine.inner.kept.clear();
    crate::ops::wake(engine);
    llm_settings(engine).await
}

/// Runs the set-up check. A check that finds faults is a result, not an error.
///
/// # Errors
/// `invalid_id`, `invalid_request` without a language model, `endpoint_address_invalid`.
pub async fn check(engine: &Engine, id: &EndpointId) -> Result<CheckReport> {
    let (endpoint, llm) = find_stored(engine, id).await?;
    let Some(llm) = llm else {
        let blank = FieldFault::new("llm", "blank", "Must not be empty.");
        return Err(fault("invalid_request").fields(vec![blank]).into());
    };
    let provider = engine.provider_of(&endpoint, &llm).await?;
    let memory = provider::Memory::load(engine, endpoint.key, &llm).await?;
    let timer = llm::TokioTimer::default();
    let checked = llm::Checked {
        provider: provider.as_ref(),
        learnt: &memory,
        timer: &timer,
        protocol: provider::protocol_of(endpoint.protocol),
        llm: &llm,
    };
    let context = crate::llm_log::CallContext {
        operation: "check".to_owned(),
        ..crate::llm_log::CallContext::default()
    };
    let cancel = CancellationToken::new();
    let report =
        crate::llm_log::within(context, llm::check(&checked, &mut |_| {}, &cancel)).await?;
    engine.inner.kept.clear();
    Ok(report_view(report))
}

fn report_view(report: llm::CheckReport) -> CheckReport {
    let verdict = |verdict| match verdict {
        llm::Verdict::Works => CheckVerdict::Pass,
        llm::Verdict::Limited => CheckVerdict::Warn,
        llm::Verdict::Fails => CheckVerdict::Fail,
        llm::Verdict::Unknown => CheckVerdict::Skipped,
    };
    let usable = report.verdict != llm::Verdict::Fails;
    let summary = match (usable, report.verdict) {
        (true, llm::Verdict::Works) => format!("{} can do all that is needed.", report.llm),
        (true, _) => format!("{} can be used, with limits.", report.llm),
        (false, _) => format!("{} cannot be used as it is.", report.llm),
    };
    let summary = match report.advice {
        Some(advice) => format!("{summary} {advice}"),
        None => summary,
    };
    CheckReport {
        usable,
        summary,
        lines: report
            .lines
            .into_iter()
            .map(|line| CheckLine {
                key: line.name,
                verdict: verdict(line.verdict),
                words: line.words,
                remedy: line.remedy,
                detail: line.detail,
            })
            .collect(),
    }
}

/// The language models that an endpoint offers.
///
/// # Errors
/// `invalid_id`; what the endpoint answers.
pub async fn list_llms(engine: &Engine, id: &EndpointId) -> Result<Vec<String>> {
    let (endpoint, llm) = find_stored(engine, id).await?;
    let provider = engine.provider_of(&endpoint, llm.as_deref().unwrap_or_default()).await?;
    Ok(provider.list_models(&CancellationToken::new()).await?)
}

/// Forgets what was learnt about an endpoint.
///
/// # Errors
/// `invalid_id`.
pub async fn forget_learnt(engine: &Engine, id: &EndpointId) -> Result<()> {
    let (endpoint, _) = find_stored(engine, id).await?;
    let now = engine.now();
    engine
        .store()
        .write("forget_learnt", move |tx| {
            store::endpoints::forget(tx, endpoint.key, None)?;
            automatic::provider_changed(tx, now)
        })
        .await?;
    engine.inner.kept.clear();
    Ok(())
}

/// Switches extractive mode.
///
/// # Errors
/// Those of writing.
pub async fn set_extractive(engine: &Engine, on: bool) -> Result<LlmSettings> {
    let now = engine.now();
    engine
        .store()
        .write("set_extractive", move |tx| {
            settings::set(tx, EXTRACTIVE, &serde_json::json!(on), now)?;
            automatic::provider_changed(tx, now)
        })
        .await?;
    llm_settings(engine).await
}

/// What answers questions now, for the status of the program.
pub(crate) async fn answering(engine: &Engine) -> Result<crate::view::app::Answering> {
    use crate::view::app::Answering;
    let settings = llm_settings(engine).await?;
    let chosen = settings.endpoints.into_iter().find(|endpoint| endpoint.in_use);
    Ok(match chosen.and_then(|endpoint| Some((endpoint.llm?, endpoint.name, endpoint.local))) {
        Some((llm, endpoint, local)) => Answering::Llm { endpoint, llm, local },
        None if settings.extractive => Answering::Extractive,
        None => Answering::Nothing,
    })
}

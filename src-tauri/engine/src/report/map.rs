//! From a failure of a lower crate to the reason that people read. Every variant has its row; a
//! new one that is forgotten shows up as `unexpected_error` and in the test below.

use super::{Fault, Report, fault};
use crate::Error;
use std::error::Error as _;
use store::Thing;

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Refused(fault) => fault.report(),
            lower => fault_of(lower).report(),
        }
    }
}

/// The fault that a failure is told as, with its causes behind the disclosure.
pub(crate) fn fault_of(error: &Error) -> Fault {
    let mut fault = match error {
        Error::Refused(fault) => return (**fault).clone(),
        Error::Store(error) => of_store(error),
        Error::Llm(error) => of_llm(error),
        Error::Embed(error) => of_embed(error),
        Error::Io { path, source } => of_io(path, source),
    };
    fault.detail.get_or_insert_with(|| chain(error));
    fault
}

/// The sentences of an error and its causes, outermost first.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let sentence = next.to_string();
        if !text.ends_with(&sentence) {
            text.push_str(": ");
            text.push_str(&sentence);
        }
        cause = next.source();
    }
    text
}

fn of_io(path: &str, source: &std::io::Error) -> Fault {
    match source.kind() {
        std::io::ErrorKind::StorageFull => fault("disk_full"),
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            fault("io").with("cause", format!("{path}: permission denied"))
        }
        _ => fault("io").with("cause", format!("{path}: {source}")),
    }
}

fn not_found(what: Thing, id: &str) -> Fault {
    match what {
        Thing::Bank => fault("bank_not_found").with("bank", id),
        Thing::Document => fault("document_not_found"),
        Thing::Chunk => fault("chunk_not_found"),
        Thing::Memory => fault("memory_not_found"),
        Thing::Entity => fault("entity_not_found"),
        Thing::Model => fault("model_not_found").with("id", id),
        Thing::Version => fault("version_not_found").with("n", id),
        Thing::Proposal => fault("proposal_not_found"),
        Thing::Directive => fault("directive_not_found"),
        Thing::Operation => fault("operation_not_found"),
        Thing::Run => fault("run_not_found"),
        Thing::LlmRequest => fault("llm_request_not_found"),
        Thing::Endpoint => fault("endpoint_address_invalid"),
        Thing::Embedder => fault("no_embedder"),
        Thing::Node => fault("node_not_found"),
    }
}

fn of_store(error: &store::Error) -> Fault {
    use store::Error as E;
    match error {
        E::NotFound { what, id } => not_found(*what, id),
        E::IdTaken { id, .. } => fault("id_taken").with("id", id),
        E::NameTaken { .. } => fault("name_taken"),
        E::BadParent => fault("bad_parent"),
        E::Cycle => fault("cycle"),
        E::DataFolderInUse { .. } => fault("data_folder_in_use"),
        E::Newer { .. } => fault("database_newer"),
        E::Damaged { .. } | E::Json { .. } => fault("database_damaged"),
        E::DiskFull { .. } => fault("disk_full"),
        E::Busy { .. } => fault("database_busy"),
        E::ReadOnly { .. } => fault("folder_read_only"),
        E::Io { source } => of_io("the data folder", source),
        E::VersionConflict { found, .. } => fault("version_conflict").with("n", found),
        E::StateConflict { found, expected } => fault("state_conflict")
            .detail(format!("the proposal is at state {found}, the request is about {expected}")),
        E::ProposalClosed => fault("proposal_closed"),
        E::OperationConflict { .. } => fault("operation_conflict"),
        E::OperationState { status, .. } => match status.as_str() {
            "pending" | "processing" => fault("not_finished"),
            _ => fault("already_finished"),
        },
        E::NotCuratable => fault("not_curatable"),
        E::MemoryInvalidated => fault("memory_invalidated"),
        E::DimensionMismatch { got, want } => {
            fault("dimension_mismatch").with("got", got).with("want", want)
        }
        E::NoEmbedder => fault("no_embedder"),
        E::BackupFailed { .. } => fault("backup_failed"),
        _ => fault("unexpected_error"),
    }
}

fn of_llm(error: &llm::Error) -> Fault {
    use llm::Error as E;
    match error {
        E::Auth { endpoint, .. } => fault("llm_auth").with("endpoint", endpoint),
        E::RateLimited { endpoint, retry_after, .. } => {
            fault("llm_rate_limited").with("endpoint", endpoint).with(
                "time",
                retry_after.map_or_else(
                    || "some time has passed".to_owned(),
                    |wait| format!("{} s from now", wait.as_secs()),
                ),
            )
        }
        E::Unreachable { endpoint, .. } | E::CutOff { endpoint, .. } => {
            fault("llm_unreachable").with("endpoint", endpoint)
        }
        E::Timeout { endpoint, limit } => {
            fault("llm_timeout").with("endpoint", endpoint).with("seconds", limit.as_secs())
        }
        E::Failed { endpoint, .. } => fault("llm_unreachable").with("endpoint", endpoint),
        E::Refused { endpoint, answer } => {
            fault("llm_refused").with("endpoint", endpoint).with("cause", &answer.message)
        }
        E::UnknownModel { endpoint, llm, .. } => {
            fault("llm_unknown").with("endpoint", endpoint).with("llm", llm)
        }
        E::ToolsUnsupported { llm, .. } => fault("tool_calls_unsupported").with("llm", llm),
        E::Overflow { .. } => fault("context_overflow"),
        E::PromptTruncated { got, sent, protocol, .. } => fault("prompt_truncated")
            .with("got", llm::thousands(*got))
            .with("sent", llm::thousands(*sent))
            .also(wider_window(*protocol)),
        E::Malformed { endpoint, .. } => fault("llm_output_invalid").with("llm", endpoint),
        E::Address { .. } => fault("endpoint_address_invalid"),
        E::Setup { endpoint, .. } => fault("llm_unreachable").with("endpoint", endpoint),
        E::KeyUnavailable { .. } => fault("keychain_unavailable"),
        E::Cancelled => fault("cancelled"),
        _ => fault("unexpected_error"),
    }
}

/// Where the window of an endpoint is set, by its kind.
fn wider_window(protocol: llm::Protocol) -> &'static str {
    use llm::Protocol as P;
    match protocol {
        P::Ollama => "Its size is set in Settings, Language models, in the endpoint's own form.",
        P::OpenAi => {
            "LM Studio: Context Length; llama.cpp: -c; vLLM: --max-model-len. Ollama takes a size \
             only when its endpoint is set up as Ollama, not as OpenAI-compatible."
        }
        P::Anthropic => "Where it cannot be enlarged, choose a model with a larger one.",
    }
}

fn of_embed(error: &embed::Error) -> Fault {
    use embed::Error as E;
    match error {
        E::Cancelled => fault("cancelled"),
        E::WeightsMissing { .. } | E::WeightsUnusable { .. } | E::WeightsUnreadable { .. } => {
            fault("no_embedder")
        }
        E::Dimension { want, got } => {
            fault("dimension_mismatch").with("got", got).with("want", want)
        }
        E::Unreachable { .. } => fault("llm_unreachable").with("endpoint", "The embedder"),
        E::TimedOut { seconds } => {
            fault("llm_timeout").with("endpoint", "The embedder").with("seconds", seconds)
        }
        E::Auth { .. } => fault("llm_auth").with("endpoint", "The embedder"),
        E::RateLimited { retry_after } => fault("llm_rate_limited")
            .with("endpoint", "The embedder")
            .with("time", retry_after.map_or_else(|| "later".to_owned(), |s| format!("in {s} s"))),
        E::Refused { message, .. } => {
            fault("llm_refused").with("endpoint", "The embedder").with("cause", message)
        }
        E::BadReply { what } => {
            fault("llm_refused").with("endpoint", "The embedder").with("cause", what)
        }
        E::Count { .. } => fault("llm_refused")
            .with("endpoint", "The embedder")
            .with("cause", "it gave another number of results than texts"),
        _ => fault("unexpected_error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ErrorCode;
    use std::time::Duration;

    fn sources() -> Vec<Error> {
        use embed::Error as B;
        use llm::Error as L;
        use store::Error as S;
        let endpoint = || "http://127.0.0.1:11434".to_owned();
        let answer = || Box::new(llm::Answer { status: 400, ..llm::Answer::default() });
        let cause = || "it broke".to_owned();
        let mut all: Vec<Error> = vec![
            S::not_found(Thing::Bank, "b").into(),
            S::IdTaken { what: Thing::Model, id: "m".into() }.into(),
            S::DataFolderInUse { folder: "d".into() }.into(),
            S::Newer { found: 9, known: 1 }.into(),
            S::Damaged { detail: cause() }.into(),
            S::ReadOnly { detail: cause() }.into(),
            S::Io { source: std::io::Error::other("x") }.into(),
            S::VersionConflict { found: 3, expected: 2 }.into(),
            S::StateConflict { found: 3, expected: 2 }.into(),
            S::ProposalClosed.into(),
            S::OperationConflict { id: "o".into() }.into(),
            S::OperationState { id: "o".into(), status: "completed".into() }.into(),
            S::OperationState { id: "o".into(), status: "processing".into() }.into(),
            S::NotCuratable.into(),
            S::NameTaken { name: "Kiln".into() }.into(),
            S::BadParent.into(),
            S::Cycle.into(),
            S::MemoryInvalidated.into(),
            S::DimensionMismatch { got: 3, want: 384 }.into(),
            S::NoEmbedder.into(),
            S::BackupFailed { detail: cause() }.into(),
            L::Auth { endpoint: endpoint(), answer: answer() }.into(),
            L::RateLimited { endpoint: endpoint(), retry_after: None, answer: answer() }.into(),
            L::Unreachable { endpoint: endpoint(), cause: cause(), refused: true }.into(),
            L::Timeout { endpoint: endpoint(), limit: Duration::from_secs(120) }.into(),
            L::Failed { endpoint: endpoint(), retry_after: None, answer: answer() }.into(),
            L::Refused { endpoint: endpoint(), answer: answer() }.into(),
            L::UnknownModel { endpoint: endpoint(), llm: "m".into(), answer: answer() }.into(),
            L::ToolsUnsupported { endpoint: endpoint(), llm: "m".into(), answer: answer() }.into(),
            L::Overflow { endpoint: endpoint(), answer: answer() }.into(),
            L::PromptTruncated {
                endpoint: endpoint(),
                got: 1,
                sent: 2,
                protocol: llm::Protocol::Ollama,
            }
            .into(),
            L::Malformed { endpoint: endpoint(), cause: cause(), body: String::new() }.into(),
            L::Address { address: "x".into(), cause: cause() }.into(),
            L::Setup { endpoint: endpoint(), cause: cause() }.into(),
            L::KeyUnavailable { endpoint: endpoint(), cause: cause() }.into(),
            L::Cancelled.into(),
            B::Cancelled.into(),
            B::WeightsMissing { path: "w".into() }.into(),
            B::TimedOut { seconds: 3 }.into(),
            B::Auth { status: 401 }.into(),
            B::RateLimited { retry_after: Some(3) }.into(),
            B::Refused { status: 500, message: cause() }.into(),
            B::BadReply { what: cause() }.into(),
            B::Count { want: 2, got: 1 }.into(),
            B::Dimension { want: 384, got: 3 }.into(),
            Error::Io { path: "p".into(), source: std::io::Error::other("x") },
        ];
        let things = [
            Thing::Document,
            Thing::Memory,
            Thing::Version,
            Thing::Proposal,
            Thing::Run,
            Thing::Node,
        ];
        all.extend(things.map(|what| S::not_found(what, "7").into()));
        all
    }

    #[test]
    fn every_failure_of_a_lower_crate_has_words_and_a_next_step() {
        for error in sources() {
            let report = Report::from(&error);
            assert_ne!(report.code, ErrorCode::Internal, "{error:?} has no reason of its own");
            assert!(report.hint.is_some_and(|hint| !hint.is_empty()), "{error:?}");
            for sign in ["{", "}", "Some(", "::", "\\\""] {
                assert!(!report.message.contains(sign), "{}", report.message);
            }
        }
    }

    #[test]
    fn a_full_disk_is_told_as_such_wherever_it_shows() {
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let report = Report::from(&Error::Io { path: "/data".into(), source });
        assert_eq!(report.code, ErrorCode::DiskFull);
    }
}

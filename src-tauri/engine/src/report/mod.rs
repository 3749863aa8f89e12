//! What a caller is told when something did not work. One shape (`Report`), one table (`table.rs`)
//! from the fine word (`reason`) to the family, the status, the sentence and the next step. Screens
//! branch on the family; nothing outside this module writes error sentences. Secrets never get here:
//! the lower crates keep keys out of their errors.

mod map;
mod table;

use domain::{FieldFault, RunId};
pub(crate) use map::fault_of;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::time::Duration;
pub use table::TABLE;

/// The closed family that decides wording, remedy and severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words are the documentation: they are the wire's own")]
pub enum ErrorCode {
    NotFound,
    InvalidInput,
    InvalidSchema,
    InvalidCron,
    AccessDenied,
    Conflict,
    ProviderNotConfigured,
    ProviderAuth,
    ProviderRateLimited,
    ProviderUnreachable,
    ProviderRefused,
    ModelLacksTools,
    ModelOutputInvalid,
    ContextOverflow,
    EvidenceUnavailable,
    EmptyAnswer,
    DeltaNotApplied,
    StructuredOutputFailed,
    DirectiveViolation,
    TimedOut,
    Busy,
    IndexRebuilding,
    Cancelled,
    DiskFull,
    DatabaseNewer,
    DatabaseDamaged,
    KeychainUnavailable,
    Io,
    ImportInvalid,
    UnsupportedFile,
    Internal,
}

impl ErrorCode {
    /// Whether the same call may succeed when it is simply made again.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::ProviderRateLimited
                | Self::ProviderUnreachable
                | Self::TimedOut
                | Self::Busy
                | Self::IndexRebuilding
                | Self::EvidenceUnavailable
                | Self::EmptyAnswer
                | Self::ModelOutputInvalid
                | Self::DeltaNotApplied
        )
    }
}

/// One row of the table. Braces in `message` and `hint` are filled from the fault's values.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Stable fine word, unique over the program.
    pub reason: &'static str,
    /// Its family.
    pub code: ErrorCode,
    /// The status a server sends for it.
    pub status: u16,
    /// What happened, with `{names}`.
    pub message: &'static str,
    /// What to do next, with `{names}`.
    pub hint: &'static str,
}

/// The row of a reason.
#[must_use]
pub fn row_of(reason: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.reason == reason)
}

/// The record of a failed run that a report points at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunRef {
    /// The run, whose stored record holds usage and the partial trace.
    pub id: RunId,
}

/// What a caller is told. The same shape for commands, events, stored runs and the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Report {
    /// The closed family.
    pub code: ErrorCode,
    /// The fine word.
    pub reason: String,
    /// One sentence: what happened, in the user's words.
    pub message: String,
    /// One sentence: what to do next.
    pub hint: Option<String>,
    /// The fields at fault, when the input is.
    pub fields: Vec<FieldFault>,
    /// Whether trying again can help.
    pub retryable: bool,
    /// The chain of causes, for the disclosure.
    pub detail: Option<String>,
    /// The failed run.
    pub run: Option<RunRef>,
}

/// A reason with the values for its sentence: how the engine says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    reason: &'static str,
    values: Vec<(&'static str, String)>,
    fields: Vec<FieldFault>,
    code: Option<ErrorCode>,
    detail: Option<String>,
    also: Option<&'static str>,
    /// Boxed, because faults are kept small.
    run: Option<Box<RunId>>,
    /// Whole seconds, because faults are kept small.
    wait: Option<NonZeroU32>,
}

/// A fault of the named reason. An unknown reason is reported as `unexpected_error`; a test walks
/// the sources so that this cannot happen unseen.
#[must_use]
pub fn fault(reason: &'static str) -> Fault {
    Fault {
        reason,
        values: Vec::new(),
        fields: Vec::new(),
        code: None,
        detail: None,
        also: None,
        run: None,
        wait: None,
    }
}

impl Fault {
    /// Fills `{name}` in the sentence and the hint.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.values.push((name, value.to_string()));
        self
    }

    /// Names the fields at fault.
    #[must_use]
    pub fn fields(mut self, fields: Vec<FieldFault>) -> Self {
        self.fields = fields;
        self
    }

    /// Replaces the family, where it follows the cause (`provider_error`).
    #[must_use]
    pub fn code(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    /// Adds a sentence to the hint, where what to do depends on the case.
    #[must_use]
    pub fn also(mut self, sentence: &'static str) -> Self {
        self.also = Some(sentence);
        self
    }

    /// Adds the cause, shown behind a disclosure.
    #[must_use]
    pub fn detail(mut self, detail: impl ToString) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    /// Points at the record of the failed run.
    #[must_use]
    pub fn run(mut self, run: RunId) -> Self {
        self.run = Some(Box::new(run));
        self
    }

    /// Keeps how long a provider asks to be left alone, for the queue.
    #[must_use]
    pub(crate) fn wait(mut self, wait: Option<Duration>) -> Self {
        let seconds = wait.map(|wait| wait.as_secs().max(1));
        self.wait = seconds.and_then(|n| u32::try_from(n).ok()).and_then(NonZeroU32::new);
        self
    }

    /// How long a provider asks to be left alone.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        self.wait.map(|seconds| Duration::from_secs(u64::from(seconds.get())))
    }

    /// The fine word.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// The report a caller sees.
    #[must_use]
    pub fn report(&self) -> Report {
        let Some(row) = row_of(self.reason).or_else(|| row_of("unexpected_error")) else {
            unreachable!("the table holds unexpected_error");
        };
        let code = self.code.unwrap_or(row.code);
        let hint = fill(row.hint, &self.values);
        let hint = self.also.map_or_else(|| hint.clone(), |also| format!("{hint} {also}"));
        Report {
            code,
            reason: row.reason.to_owned(),
            message: fill(row.message, &self.values),
            hint: (!hint.is_empty()).then_some(hint),
            fields: self.fields.clone(),
            retryable: code.is_retryable(),
            detail: self.detail.clone(),
            run: self.run.as_deref().cloned().map(|id| RunRef { id }),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.report().message)
    }
}

impl std::error::Error for Fault {}

/// Puts values in the braces. A brace without a value loses its braces rather than showing them.
fn fill(sentence: &str, values: &[(&'static str, String)]) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else { break };
        out.push_str(&rest[..open]);
        let name = &rest[open + 1..open + close];
        match values.iter().find(|(key, _)| *key == name) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(name),
        }
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn reasons_are_unique_and_every_one_says_what_to_do() {
        let mut seen = BTreeSet::new();
        for row in TABLE {
            assert!(seen.insert(row.reason), "{} stands twice", row.reason);
            assert!(row.message.ends_with('.'), "{}: a sentence ends", row.reason);
            assert!(!row.hint.is_empty(), "{} has no next step", row.reason);
            assert!((400..600).contains(&row.status), "{}", row.reason);
        }
    }

    #[test]
    fn braces_are_filled_and_never_shown() {
        let report = fault("bank_not_found").with("bank", "alpha").report();
        assert_eq!(report.message, "There is no bank \"alpha\".");
        for row in TABLE {
            let shown = fault(row.reason).report();
            assert!(!shown.message.contains(['{', '}']), "{}", shown.message);
            assert!(!shown.hint.unwrap_or_default().contains(['{', '}']), "{}", row.reason);
        }
    }

    #[test]
    fn an_unknown_reason_is_an_internal_fault() {
        assert_eq!(fault("no_such_word").report().code, ErrorCode::Internal);
    }

    #[test]
    fn the_family_may_follow_the_cause() {
        let report = fault("provider_error").code(ErrorCode::ProviderAuth).report();
        assert_eq!(report.code, ErrorCode::ProviderAuth);
        assert!(!report.retryable);
    }
}

//! Tries again what may succeed later: a limit, a failure of the endpoint's own, the network. Never
//! a refused key, a refused request, a time-out of the call or a reply that was paid for.

use crate::chat::{ChatReply, ChatRequest};
use crate::error::Error;
use crate::gate::Gate;
use crate::window::Window;
use crate::{Caps, ChatEvent, ChatSink, Provider};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// First wait; each further one is twice as long.
    pub first_wait: Duration,
    /// Longest wait of our own making.
    pub longest_wait: Duration,
    /// Longest wait that an endpoint may ask for before the error is handed up instead, so that
    /// queued work can be put off and a person is told.
    pub patience: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
            patience: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// The wait before retry number `n`, from 0.
    fn wait(&self, n: u32) -> Duration {
        self.first_wait.saturating_mul(2_u32.saturating_pow(n)).min(self.longest_wait)
    }
}

/// A provider that waits and tries again. The gate is shared by all providers of one endpoint.
pub struct Retrying<P> {
    inner: P,
    gate: Arc<Gate>,
    policy: RetryPolicy,
}

impl<P: Provider> Retrying<P> {
    /// Wraps a provider.
    pub fn new(inner: P, gate: Arc<Gate>, policy: RetryPolicy) -> Self {
        Self { inner, gate, policy }
    }

    /// What follows from failure number `n`: an error to hand up, or another attempt, after a wait
    /// of its own or, when the endpoint set a time, after the gate's.
    fn judge(&self, e: Error, n: u32) -> Result<Option<Duration>, Error> {
        if !e.retryable() {
            return Err(e);
        }
        let asked = e.retry_after();
        let wait = asked.unwrap_or_else(|| self.policy.wait(n));
        let shut = match &e {
            Error::RateLimited { endpoint, answer, .. } => Some((endpoint, answer)),
            Error::Failed { endpoint, answer, .. } if asked.is_some() => Some((endpoint, answer)),
            _ => None,
        };
        if let Some((endpoint, answer)) = shut {
            self.gate.limited(wait, endpoint, answer);
        }
        if n >= self.policy.retries || wait > self.policy.patience {
            return Err(e);
        }
        Ok(if shut.is_some() { None } else { Some(wait) })
    }
}

#[async_trait]
impl<P: Provider> Provider for Retrying<P> {
    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let mut n = 0;
        let timer = Arc::clone(self.gate.timer());
        let mut waits_since = timer.now();
        loop {
            let pass = self.gate.enter(req.urgency, self.policy.patience, out, cancel).await?;
            if n > 0 {
                out.take(ChatEvent::Restarted);
            }
            let waited = timer.now().saturating_sub(waits_since);
            let sent = ChatRequest { waited, ..req.clone() };
            let reply = self.inner.chat(sent, out, cancel).await;
            waits_since = timer.now();
            let e = match reply {
                Ok(reply) => {
                    pass.succeeded();
                    return Ok(reply);
                }
                Err(e) => e,
            };
            // The gate is shut before the place inside is given up, or the next in line would slip
            // through.
            let wait = self.judge(e, n);
            drop(pass);
            if let Some(wait) = wait? {
                out.take(ChatEvent::Waiting(wait));
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(Error::Cancelled),
                    () = self.gate.timer().sleep(wait) => {}
                }
                out.take(ChatEvent::Resumed);
            }
            n += 1;
        }
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        self.inner.list_models(cancel).await
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        self.inner.window(cancel).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Answer, Class};
    use crate::scripted::{Hold, Scripted, Step};
    use crate::timer::{Timer, TokioTimer};
    use crate::{Message, Urgency};
    use std::sync::Mutex;

    fn answer(status: u16) -> Box<Answer> {
        Box::new(Answer { status, ..Answer::default() })
    }

    fn limited(seconds: Option<u64>) -> Step {
        let retry_after = seconds.map(Duration::from_secs);
        Step::error(Error::RateLimited { endpoint: "e".into(), retry_after, answer: answer(429) })
    }

    fn failed() -> Step {
        Step::error(Error::Failed { endpoint: "e".into(), retry_after: None, answer: answer(500) })
    }

    fn ask(scope: &str, urgency: Urgency) -> ChatRequest {
        ChatRequest { urgency, ..ChatRequest::new(scope, vec![Message::user("?")]) }
    }

    fn wrapped(script: &Scripted) -> (Arc<Retrying<Scripted>>, Arc<TokioTimer>) {
        let timer = Arc::new(TokioTimer::default());
        let gate = Arc::new(Gate::new(Arc::clone(&timer) as Arc<dyn Timer>));
        (Arc::new(Retrying::new(script.clone(), gate, RetryPolicy::default())), timer)
    }

    #[derive(Default)]
    struct Waits(Vec<Duration>, u32);

    impl ChatSink for Waits {
        fn take(&mut self, event: ChatEvent<'_>) {
            match event {
                ChatEvent::Waiting(wait) => self.0.push(wait),
                ChatEvent::Restarted => self.1 += 1,
                _ => {}
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_and_end_after_three_retries() {
        let script = Scripted::new([failed(), failed(), failed(), failed()]);
        let (provider, timer) = wrapped(&script);
        let mut waits = Waits::default();
        let cancel = CancellationToken::new();
        let result = provider.chat(ask("a", Urgency::Asked), &mut waits, &cancel).await;
        assert_eq!(result.unwrap_err().class(), Class::Failed);
        assert_eq!(waits.0, [1, 2, 4].map(Duration::from_secs));
        assert_eq!((waits.1, timer.now().as_secs()), (3, 7));
        script.assert_used_up();
        assert_eq!(RetryPolicy::default().wait(9), Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_the_endpoint_asks_for_is_kept() {
        let script = Scripted::new([limited(Some(20)), limited(Some(9)), Step::text("ok")]);
        let (provider, timer) = wrapped(&script);
        let mut waits = Waits::default();
        let cancel = CancellationToken::new();
        let reply = provider.chat(ask("a", Urgency::Background), &mut waits, &cancel).await;
        assert_eq!(reply.unwrap().text, "ok");
        assert_eq!((timer.now().as_secs(), waits.0.len()), (29, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_too_long_is_handed_up_and_holds_for_everyone() {
        let script = Scripted::new([limited(Some(600))]);
        let (provider, _) = wrapped(&script);
        let cancel = CancellationToken::new();
        for _ in 0..2 {
            let result = provider.chat(ask("a", Urgency::Asked), &mut (), &cancel).await;
            let error = result.unwrap_err();
            assert_eq!(error.retry_after(), Some(Duration::from_secs(600)));
            assert_eq!(error.status(), Some(429));
        }
        // The second one was not sent.
        assert_eq!(script.requests().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_succeed_is_never_tried_again() {
        let endpoint = || "e".to_owned();
        for error in [
            Error::Auth { endpoint: endpoint(), answer: answer(401) },
            Error::Auth { endpoint: endpoint(), answer: answer(403) },
            Error::Refused { endpoint: endpoint(), answer: answer(400) },
            Error::Timeout { endpoint: endpoint(), limit: Duration::from_secs(120) },
            Error::Overflow { endpoint: endpoint(), answer: answer(400) },
            Error::Malformed { endpoint: endpoint(), cause: String::new(), body: String::new() },
            Error::Cancelled,
        ] {
            let class = error.class();
            let script = Scripted::new([Step::error(error)]);
            let (provider, _) = wrapped(&script);
            let cancel = CancellationToken::new();
            let result = provider.chat(ask("a", Urgency::Asked), &mut (), &cancel).await;
            assert_eq!(result.unwrap_err().class(), class);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_limit_the_question_goes_first_and_the_rest_come_one_by_one() {
        let hold = Hold::default();
        let script = Scripted::new([limited(Some(20))]);
        for _ in 0..6 {
            script.push(Step::text("ok").held_by(&hold));
        }
        let (provider, timer) = wrapped(&script);
        let mut runs = tokio::task::JoinSet::new();
        let start = |runs: &mut tokio::task::JoinSet<()>, scope: &'static str, urgency| {
            let provider = Arc::clone(&provider);
            runs.spawn(async move {
                let cancel = CancellationToken::new();
                provider.chat(ask(scope, urgency), &mut (), &cancel).await.unwrap();
            });
        };
        let spin = || async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
        };
        start(&mut runs, "b0", Urgency::Background);
        spin().await;
        assert_eq!(script.scopes(), ["b0"]);
        for scope in ["b1", "b2", "b3", "b4"] {
            start(&mut runs, scope, Urgency::Background);
        }
        spin().await;
        start(&mut runs, "question", Urgency::Asked);
        spin().await;
        assert_eq!(script.scopes(), ["b0"], "nothing is sent while the door is shut");

        hold.arrived().await;
        assert_eq!(timer.now().as_secs(), 20);
        spin().await;
        assert_eq!(script.scopes(), ["b0", "question"], "one goes first, and it is the person's");
        hold.release();
        spin().await;
        assert_eq!(script.scopes().len(), 4, "then two");
        hold.release();
        hold.release();
        spin().await;
        assert_eq!(script.scopes().len(), 7, "then the rest");
        hold.release();
        hold.release();
        hold.release();
        while let Some(run) = runs.join_next().await {
            run.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_request_can_be_cancelled() {
        let script = Scripted::new([limited(Some(20))]);
        let (provider, timer) = wrapped(&script);
        let cancel = CancellationToken::new();
        let waits = Mutex::new(0);
        struct Count<'a>(&'a Mutex<u32>, CancellationToken);
        impl ChatSink for Count<'_> {
            fn take(&mut self, event: ChatEvent<'_>) {
                if let ChatEvent::Waiting(_) = event {
                    *self.0.lock().unwrap() += 1;
                    self.1.cancel();
                }
            }
        }
        let mut sink = Count(&waits, cancel.clone());
        let result = provider.chat(ask("a", Urgency::Asked), &mut sink, &cancel).await;
        assert!(matches!(result, Err(Error::Cancelled)));
        assert_eq!((*waits.lock().unwrap(), timer.now()), (1, Duration::ZERO));
    }
}

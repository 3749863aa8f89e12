//! What a reflect will cost, said before it runs and without a call. Three cases from the sizes of
//! the instructions, of what the bank can give, and of the answer.

use serde::{Deserialize, Serialize};

use crate::Score;
use crate::reflect::Budget;

/// Tokens that each turn adds around a result: the call, its reason, its frame.
const TURN_FRAME: u32 = 50;
/// Tokens a language model writes to call a search.
const SEARCH_OUTPUT: u32 = 80;
/// Tokens of an answer as it mostly comes out.
const LIKELY_ANSWER: u32 = 600;
/// Tokens of the instructions of an extraction.
const EXTRACTION_FRAME: u32 = 400;

/// What is known before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateInput {
    /// Tokens of instructions, tools and question.
    pub prompt_tokens: u32,
    /// Expected tokens of each forced result, bounded by the tool's budget and by what the bank
    /// holds, in order.
    pub forced_results: Vec<u32>,
    /// Expected tokens of one more recall.
    pub recall_result: u32,
    /// Effort of the run.
    pub budget: Budget,
    /// Iterations of the run.
    pub iterations: u32,
    /// Limit of the answer.
    pub max_tokens: u32,
    /// Most tokens of one prompt.
    pub context_limit: u32,
    /// Tokens of the response schema.
    pub schema_tokens: Option<u32>,
    /// Whether fresh mental models may end the forced order after its first step.
    pub early_release: bool,
    /// Prices of the language model, if the user gave any.
    pub prices: Option<Prices>,
}

/// Prices of a million tokens, in the user's currency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Prices {
    /// Of tokens sent.
    pub input_per_million: Score,
    /// Of tokens received.
    pub output_per_million: Score,
}

/// One case of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EstimateCase {
    /// Tokens sent, over all calls.
    pub input_tokens: u32,
    /// Tokens received.
    pub output_tokens: u32,
    /// Requests to the language model.
    pub calls: u32,
    /// In the user's currency, where prices are known.
    pub cost: Option<Score>,
}

/// What a run will cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Estimate {
    /// It stops as soon as it may.
    pub low: EstimateCase,
    /// It does what runs of this budget mostly do.
    pub likely: EstimateCase,
    /// It uses every turn and the whole answer.
    pub high: EstimateCase,
}

/// The three cases of a run.
#[must_use]
pub fn estimate(input: &EstimateInput) -> Estimate {
    let forced = input.forced_results.len();
    let likely_turns = match input.budget {
        Budget::Low => 1,
        Budget::Mid => 2,
        Budget::High => 4,
    };
    let forced_count = u32::try_from(forced).unwrap_or(u32::MAX);
    let most_turns = input.iterations.saturating_sub(1).saturating_sub(forced_count).max(1);
    let first_steps = if input.early_release { forced.min(1) } else { forced };
    let likely_answer = input.max_tokens.min(LIKELY_ANSWER);
    let case = |forced: usize, turns: u32, answer: u32| turn_case(input, forced, turns, answer);
    Estimate {
        low: case(first_steps, 1, likely_answer),
        likely: case(forced, likely_turns.min(most_turns), likely_answer),
        high: case(forced, most_turns, input.max_tokens),
    }
}

/// Earlier runs that must be there before they say more than sizes do.
const ENOUGH_RUNS: usize = 3;

/// What an earlier run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastRun {
    /// Requests to the language model, failed ones included.
    pub calls: u32,
    /// Tokens sent.
    pub input_tokens: u32,
    /// Tokens received.
    pub output_tokens: u32,
}

/// The three cases of a run from what earlier ones of its kind took: the least, the middle, the most
/// of each figure. None when they are fewer than three: one odd run would be the whole picture.
#[must_use]
pub fn from_runs(past: &[PastRun], prices: Option<Prices>) -> Option<Estimate> {
    if past.len() < ENOUGH_RUNS {
        return None;
    }
    let sorted = |of: fn(&PastRun) -> u32| {
        let mut figures: Vec<u32> = past.iter().map(of).collect();
        figures.sort_unstable();
        figures
    };
    let (calls, sent, received) =
        (sorted(|run| run.calls), sorted(|run| run.input_tokens), sorted(|run| run.output_tokens));
    let case = |at: usize| EstimateCase {
        input_tokens: sent[at],
        output_tokens: received[at],
        calls: calls[at],
        cost: price_of(sent[at], received[at], prices),
    };
    Some(Estimate { low: case(0), likely: case(past.len() / 2), high: case(past.len() - 1) })
}

fn price_of(input_tokens: u32, output_tokens: u32, prices: Option<Prices>) -> Option<Score> {
    let prices = prices?;
    let share = |tokens: u32, price: Score| f64::from(tokens) * price.get() / 1_000_000.0;
    let input = share(input_tokens, prices.input_per_million);
    Some(Score::new(input + share(output_tokens, prices.output_per_million)))
}

// Forced turns, then free turns of which the last one answers; each sends all that came before.
fn turn_case(input: &EstimateInput, forced: usize, turns: u32, answer: u32) -> EstimateCase {
    let results = input.forced_results.iter().take(forced).copied();
    let results = results.chain(std::iter::repeat_n(input.recall_result, turns as usize));
    let (mut sent, mut carried, mut calls) = (0_u64, 0_u64, 0_u32);
    for result in results {
        calls += 1;
        let size = u64::from(input.prompt_tokens) + carried + u64::from(TURN_FRAME * calls);
        sent += size.min(u64::from(input.context_limit));
        carried += u64::from(result);
    }
    let mut received = u64::from(SEARCH_OUTPUT) * u64::from(calls - 1) + u64::from(answer);
    if let Some(schema) = input.schema_tokens {
        sent += u64::from(answer) + u64::from(schema) + u64::from(EXTRACTION_FRAME);
        received += u64::from(schema);
        calls += 1;
    }
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let (input_tokens, output_tokens) = (small(sent), small(received));
    let cost = price_of(input_tokens, output_tokens, input.prices);
    EstimateCase { input_tokens, output_tokens, calls, cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> EstimateInput {
        EstimateInput {
            prompt_tokens: 1000,
            forced_results: vec![2000, 500],
            recall_result: 300,
            budget: Budget::Mid,
            iterations: 6,
            max_tokens: 900,
            context_limit: 100_000,
            schema_tokens: None,
            early_release: false,
            prices: None,
        }
    }

    #[test]
    fn each_turn_sends_what_came_before() {
        let low = estimate(&input()).low;
        // 1000+50, 1000+2000+100, 1000+2500+150.
        assert_eq!((low.input_tokens, low.output_tokens, low.calls), (7800, 760, 3));
    }

    #[test]
    fn the_cases_are_ordered_and_the_limit_caps_a_prompt() {
        let all = estimate(&input());
        assert!(all.low.input_tokens < all.likely.input_tokens);
        assert!(all.likely.input_tokens < all.high.input_tokens);
        assert_eq!((all.likely.calls, all.high.calls), (4, 5));
        let tight = estimate(&EstimateInput { context_limit: 1200, ..input() });
        assert_eq!(tight.high.input_tokens, 1050 + 4 * 1200);
    }

    #[test]
    fn a_schema_costs_one_more_call_and_fresh_models_spare_steps() {
        let with_schema = estimate(&EstimateInput { schema_tokens: Some(100), ..input() }).low;
        assert_eq!(with_schema.calls, 4);
        assert_eq!(with_schema.input_tokens, 7800 + 600 + 100 + 400);
        let spared = estimate(&EstimateInput { early_release: true, ..input() });
        assert_eq!((spared.low.calls, spared.likely.calls), (2, 4));
    }

    #[test]
    fn earlier_runs_give_the_least_the_middle_and_the_most() {
        let run = |calls, input_tokens| PastRun { calls, input_tokens, output_tokens: 10 * calls };
        assert_eq!(from_runs(&[run(3, 900), run(5, 100)], None), None);
        let all = from_runs(&[run(3, 900), run(5, 100), run(4, 400)], None).unwrap();
        assert_eq!((all.low.calls, all.likely.calls, all.high.calls), (3, 4, 5));
        let sent = [all.low, all.likely, all.high].map(|case| case.input_tokens);
        assert_eq!(sent, [100, 400, 900]);
        assert_eq!((all.high.output_tokens, all.high.cost), (50, None));
    }

    #[test]
    fn prices_give_a_cost() {
        let prices =
            Prices { input_per_million: Score::new(1.0), output_per_million: Score::new(10.0) };
        let low = estimate(&EstimateInput { prices: Some(prices), ..input() }).low;
        assert!((low.cost.unwrap().get() - 0.0154).abs() < 1e-9);
    }
}

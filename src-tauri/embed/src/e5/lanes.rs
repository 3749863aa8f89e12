//! The arithmetic between the matrices: norms, softmax, the activation function, attention. Plain
//! loops over slices, written so that the compiler can widen them: no branches inside, sums in eight
//! fixed lanes, own `exp`. One source gives the same bits at every vector width, because nothing is
//! reordered and multiply and add are never joined.
//!
//! `kernel` compiles these once more for wider vectors; nobody else calls them.

use super::{file::BLOCK, packed::Quantised};

/// Numbers of one attention head.
pub(super) const HEAD: usize = 32;
/// Sums run in this many lanes that are added at the end, at every vector width.
const LANES: usize = 8;

/// e^x for x <= 0, to about one part in ten million; below -87 the least normal number's
/// neighbourhood, which no sum here can tell from 0. Cody-Waite reduction, then the degree-6 series
/// of the Cephes library's `expf`.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to a whole number and leaves that number in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 - n * -2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_6e-1;
    let p = p * r + 0.5;
    let y = p * r * r + r + 1.0;
    y * f32::from_bits(1.0_f32.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Gaussian error linear unit, x/2 (1 + erf(x/sqrt 2)), in place. The error function is formula 7.1.26
/// of Abramowitz and Stegun, absolute error below 1.5e-7.
#[inline(always)]
pub(super) fn gelu(values: &mut [f32]) {
    for x in values {
        let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let p = 1.061_405_4;
        let p = p * t + -1.453_152;
        let p = p * t + 1.421_413_8;
        let p = p * t + -0.284_496_74;
        let p = p * t + 0.254_829_6;
        let erf = 1.0 - p * t * exp(-(z * z));
        *x = 0.5 * *x * (1.0 + erf.copysign(*x));
    }
}

/// Layer norm of each row of `width` numbers, in place, after adding the same row of `residual` when
/// there is one.
#[inline(always)]
pub(super) fn norm(
    rows: &mut [f32],
    residual: Option<&[f32]>,
    weight: &[f32],
    bias: &[f32],
    epsilon: f32,
) {
    let width = weight.len();
    if let Some(residual) = residual {
        for (x, y) in rows.iter_mut().zip(residual) {
            *x += y;
        }
    }
    let count = width as f32;
    for row in rows.chunks_exact_mut(width) {
        let mean = sum(row, |x| x) / count;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
        let scale = 1.0 / (variance + epsilon).sqrt();
        for ((x, w), b) in row.iter_mut().zip(weight).zip(bias) {
            *x = (*x - mean) * scale * w + b;
        }
    }
}

#[inline(always)]
fn sum(values: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += f(*x);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += f(*x);
    }
    lanes.iter().sum()
}

/// Attention of one head over one text. `qkv` holds a row per token with queries, keys and values side
/// by side, `3 * hidden` numbers; the head's numbers start at `head` within each. Writes the head's
/// part of every row of `out` (`hidden` numbers a row). `scratch` is grown as needed.
#[inline(always)]
pub(super) fn attend(
    qkv: &[f32],
    hidden: usize,
    head: usize,
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let tokens = qkv.len() / (3 * hidden);
    scratch.clear();
    scratch.resize((HEAD + 1) * tokens, 0.0);
    let (keys, scores) = scratch.split_at_mut(HEAD * tokens);
    for (t, row) in qkv.chunks_exact(3 * hidden).enumerate() {
        for (e, key) in row[hidden + head..][..HEAD].iter().enumerate() {
            keys[e * tokens + t] = *key;
        }
    }
    let scale = 1.0 / 32.0_f32.sqrt();
    for (row, out) in qkv.chunks_exact(3 * hidden).zip(out.chunks_exact_mut(hidden)) {
        score(&row[head..][..HEAD], keys, scale, scores);
        soften(scores);
        let mut context = [0.0; HEAD];
        for (p, row) in scores.iter().zip(qkv.chunks_exact(3 * hidden)) {
            let values = &row[2 * hidden + head..][..HEAD];
            for (c, v) in context.iter_mut().zip(values) {
                *c += p * v;
            }
        }
        out[head..][..HEAD].copy_from_slice(&context);
    }
}

/// Scaled products of one query with every key; the keys lie transposed, so that neighbours in memory
/// are neighbours in the result. Four dimensions at a time keep the result out of memory.
#[inline(always)]
fn score(query: &[f32], keys: &[f32], scale: f32, scores: &mut [f32]) {
    let tokens = scores.len();
    scores.fill(0.0);
    for (q, k) in query.chunks_exact(4).zip(keys.chunks_exact(4 * tokens)) {
        let [q0, q1, q2, q3] = [q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale];
        let (k0, k) = k.split_at(tokens);
        let (k1, k) = k.split_at(tokens);
        let (k2, k3) = k.split_at(tokens);
        for ((((s, k0), k1), k2), k3) in scores.iter_mut().zip(k0).zip(k1).zip(k2).zip(k3) {
            *s += (q0 * k0 + q1 * k1) + (q2 * k2 + q3 * k3);
        }
    }
}

/// Softmax in place.
#[inline(always)]
fn soften(scores: &mut [f32]) {
    let mut highest = [f32::NEG_INFINITY; LANES];
    for chunk in scores.chunks(LANES) {
        for (high, x) in highest.iter_mut().zip(chunk) {
            *high = if *x > *high { *x } else { *high };
        }
    }
    let highest = highest.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for x in scores.iter_mut() {
        *x = exp(*x - highest);
    }
    let inverse = 1.0 / sum(scores, |x| x);
    for x in scores {
        *x *= inverse;
    }
}

/// Quantises rows of numbers to 8 bits with one scale for 32 of them: the greatest magnitude becomes
/// 127. Each block's shift is -8 times the sum of its values, which turns a product with weights
/// stored plus 8 into the product with the weights themselves. `into` has the rows' size already.
#[inline(always)]
pub(super) fn quantise(from: &[f32], into: &mut Quantised) {
    let (tokens, blocks) = (into.tokens, into.blocks);
    for (t, row) in from.chunks_exact(blocks * BLOCK).enumerate() {
        for (b, x) in row.as_chunks::<BLOCK>().0.iter().enumerate() {
            let place = b * tokens + t;
            let (scale, total) = quantise_block(x, &mut into.values[place]);
            into.scales[place] = scale;
            into.shifts[place] = -8 * total;
        }
    }
}

/// The scale and the sum of one block's values.
#[inline(always)]
fn quantise_block(x: &[f32; BLOCK], into: &mut [i8; BLOCK]) -> (f32, i32) {
    let mut greatest = [0.0_f32; LANES];
    for chunk in x.as_chunks::<LANES>().0 {
        for (great, x) in greatest.iter_mut().zip(chunk) {
            *great = if x.abs() > *great { x.abs() } else { *great };
        }
    }
    let greatest = greatest.iter().copied().fold(0.0, f32::max);
    let inverse = if greatest > 0.0 { 127.0 / greatest } else { 0.0 };
    let mut total = 0;
    for (q, x) in into.iter_mut().zip(x) {
        // Rounds to the nearest whole number, ties to even; the sum's low byte is that number.
        let shifted = x * inverse + 12_582_912.0;
        #[expect(clippy::cast_possible_truncation, reason = "within -127..=127 by the scale")]
        let value = shifted.to_bits() as i8;
        *q = value;
        total += i32::from(value);
    }
    (greatest / 127.0, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_follows_the_true_function() {
        for step in 0..8700 {
            let x = -(step as f32) / 100.0;
            let want = f64::from(x).exp();
            assert!((f64::from(exp(x)) / want - 1.0).abs() < 3e-7, "{x}");
        }
        assert!(exp(-1000.0) < 1e-37);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn gelu_has_its_known_values() {
        // From the definition with a 12-digit error function.
        for (x, want) in [
            (0.0, 0.0),
            (1.0, 0.841_344_8),
            (-1.0, -0.158_655_26),
            (2.5, 2.484_475_8),
            (-3.0, -0.004_049_694),
            (9.0, 9.0),
            (-9.0, 0.0),
        ] {
            let mut values = [x];
            gelu(&mut values);
            assert!((values[0] - want).abs() < 1e-6, "{x}: {}", values[0]);
        }
    }

    #[test]
    fn norm_gives_mean_zero_and_variance_one() {
        let mut row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 15.0];
        norm(&mut row, Some(&[1.0; 10]), &[1.0; 10], &[0.0; 10], 0.0);
        let mean: f32 = row.iter().sum::<f32>() / 10.0;
        let variance: f32 = row.iter().map(|x| x * x).sum::<f32>() / 10.0;
        assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-5);
    }

    #[test]
    fn quantising_keeps_each_number_within_half_a_step() {
        let from: Vec<f32> = (0..64).map(|i| ((i * 37 % 64) as f32 - 31.0) * 0.01).collect();
        let mut into = Quantised::default();
        into.resize(1, 64);
        quantise(&from, &mut into);
        for (i, x) in from.iter().enumerate() {
            let back = f32::from(into.values[i / 32][i % 32]) * into.scales[i / 32];
            assert!((back - x).abs() <= into.scales[i / 32] * 0.501, "{i}");
        }
        let total: i32 = into.values[0].iter().map(|v| i32::from(*v)).sum();
        assert_eq!(into.shifts[0], -8 * total);
        assert!(into.values[0].iter().any(|v| v.abs() == 127));
        into.resize(1, 32);
        quantise(&[0.0; 32], &mut into);
        assert_eq!((into.values[0], into.scales[0], into.shifts[0]), ([0; 32], 0.0, 0));
    }

    #[test]
    fn attention_is_a_weighted_mean_of_the_values() {
        // Two tokens, one head; equal keys weigh equally.
        let mut qkv = vec![0.0; 2 * 3 * HEAD];
        qkv[2 * HEAD..3 * HEAD].fill(1.0);
        qkv[5 * HEAD..6 * HEAD].fill(3.0);
        let mut out = vec![0.0; 2 * HEAD];
        attend(&qkv, HEAD, 0, &mut out, &mut Vec::new());
        assert!(out.iter().all(|x| (x - 2.0).abs() < 1e-6));
        // A key along the query wins.
        qkv[0] = 60.0;
        qkv[3 * HEAD + HEAD] = 60.0;
        attend(&qkv, HEAD, 0, &mut out, &mut Vec::new());
        assert!((out[0] - 3.0).abs() < 1e-6 && (out[HEAD] - 2.0).abs() < 1e-6);
    }
}

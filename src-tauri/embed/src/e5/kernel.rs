//! The vector kernels, chosen at run time by what the processor can do, and all the `unsafe` that
//! they need. Every kernel has a plain twin that the tests compare it with bit by bit: the integer
//! sums are exact, and the float steps are the same single multiplications and additions everywhere.

#![expect(unsafe_code, reason = "vector instructions and a matrix library with raw pointers")]

use super::{
    lanes,
    packed::{Packed, Quantised},
};

/// What the processor offers, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// AVX-512 with the dot product of bytes (VNNI).
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "x86-64 only"))]
    Vnni,
    /// AVX2.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "x86-64 only"))]
    Avx2,
    /// Neither: layers in f32 on `gemm`, which brings its own kernels.
    Plain,
}

impl Level {
    /// Asks the processor.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2");
            let vnni =
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
            if avx2 && vnni {
                return Self::Vnni;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Plain
    }
}

/// Compiles a function of `lanes` once more with AVX2 and calls the fitting one.
macro_rules! widened {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub(super) fn $name(level: Level, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) {
                    lanes::$name($($arg),*);
                }
                if level < Level::Plain {
                    // SAFETY: both levels above `Plain` were found to have AVX2.
                    return unsafe { wide($($arg),*) };
                }
            }
            let _ = level;
            lanes::$name($($arg),*);
        }
    };
}

widened! {
    /// [`lanes::gelu`] at the processor's width.
    gelu(values: &mut [f32])
}
widened! {
    /// [`lanes::norm`] at the processor's width.
    norm(rows: &mut [f32], residual: Option<&[f32]>, weight: &[f32], bias: &[f32], epsilon: f32)
}
widened! {
    /// [`lanes::attend`] at the processor's width.
    attend(qkv: &[f32], hidden: usize, head: usize, out: &mut [f32], scratch: &mut Vec<f32>)
}
widened! {
    /// [`lanes::quantise`] at the processor's width.
    quantise(from: &[f32], into: &mut Quantised)
}

/// `out = acts * weights^T + bias`, a row of `weights.rows` numbers per token.
pub(super) fn multiply(
    level: Level,
    weights: &Packed,
    acts: &Quantised,
    bias: &[f32],
    out: &mut [f32],
) {
    let tokens = acts.tokens;
    assert_eq!(weights.blocks, acts.blocks, "rows of equal length");
    assert_eq!(bias.len(), weights.rows);
    assert_eq!(out.len(), tokens * weights.rows);
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level says that the instructions are there.
        Level::Vnni => unsafe { x86::multiply_vnni(weights, acts, bias, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::multiply_avx2(weights, acts, bias, out) },
        _ => multiply_plain(weights, acts, bias, out),
    }
}

/// The twin: the same sums and the same order of float steps, one value at a time.
fn multiply_plain(weights: &Packed, acts: &Quantised, bias: &[f32], out: &mut [f32]) {
    use super::packed::{TILE, TILE_BYTES};
    let blocks = weights.blocks;
    for (t, out) in out.chunks_exact_mut(weights.rows).enumerate() {
        for (row, (out, bias)) in out.iter_mut().zip(bias).enumerate() {
            let (tile, r) = (row / TILE, row % TILE);
            let mut total = 0.0;
            for b in 0..blocks {
                let unit = tile * blocks + b;
                let values = &weights.values[unit * TILE_BYTES..][..TILE_BYTES];
                let ([acts], [scale], [shift]) = acts.block(b, t, 1) else { continue };
                let mut sum = *shift;
                for (i, a) in acts.iter().enumerate() {
                    let byte = values[64 * (i / 8) + 4 * r + i % 4];
                    let weight = if i / 4 % 2 == 1 { byte >> 4 } else { byte & 15 };
                    sum += i32::from(weight) * i32::from(*a);
                }
                let sum = sum as f32;
                total += sum * (weights.scales[unit * TILE + r] * scale);
            }
            *out = total + bias;
        }
    }
}

/// `out = acts * weights^T + bias` in f32 for processors without the kernels above. `weights` is
/// row-major with `bias.len()` rows.
pub(super) fn multiply_f32(weights: &[f32], acts: &[f32], bias: &[f32], out: &mut [f32]) {
    let rows = bias.len();
    let columns = weights.len() / rows;
    let tokens = acts.len() / columns;
    assert_eq!(weights.len(), rows * columns);
    assert_eq!(acts.len(), tokens * columns);
    assert_eq!(out.len(), tokens * rows);
    for out in out.chunks_exact_mut(rows) {
        out.copy_from_slice(bias);
    }
    let [rows_step, columns_step] = [rows.cast_signed(), columns.cast_signed()];
    // SAFETY: the three slices hold tokens x rows, tokens x columns and rows x columns numbers, as
    // asserted, and the strides describe exactly those; `out` is borrowed mutably and overlaps none.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            tokens,
            rows,
            columns,
            out.as_mut_ptr(),
            1,
            rows_step,
            true,
            acts.as_ptr(),
            1,
            columns_step,
            weights.as_ptr(),
            columns_step,
            1,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Both kernels walk the same way: for some rows and some tokens, block by block, the weights are
    //! unpacked into eight registers and every token's block is multiplied with them, four activations
    //! at a time broadcast to all lanes; a lane is a row, so no sum across lanes is needed. The
    //! tokens' totals stay in the first-level cache.

    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi16, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256,
        _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_srli_epi16, _mm256_storeu_ps, _mm512_add_epi32,
        _mm512_add_ps, _mm512_and_si512, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_setzero_si512, _mm512_srli_epi32, _mm512_storeu_ps,
    };

    use super::{Packed, Quantised};
    use crate::e5::packed::{TILE, TILE_BYTES};

    /// Tokens whose totals are kept at a time.
    const GROUP: usize = 64;

    /// Up to 16 sums for each token of a group, on cache lines of their own.
    #[repr(align(64))]
    struct Totals([f32; GROUP * TILE]);

    /// Part of a product: one tile of the weights and a run of tokens.
    struct Part<'a> {
        /// The tile's blocks.
        values: &'a [u8],
        scales: &'a [f32],
        acts: &'a Quantised,
        first: usize,
        tokens: usize,
    }

    /// Runs `multiply` for every tile and group of tokens with `lanes` rows starting at `row` of the
    /// tile, and adds the bias to the totals that it leaves, `lanes` a token.
    #[inline(always)]
    fn each_part(
        weights: &Packed,
        acts: &Quantised,
        bias: &[f32],
        out: &mut [f32],
        lanes: usize,
        multiply: impl Fn(&Part<'_>, usize, &mut Totals),
    ) {
        let blocks = weights.blocks;
        let mut totals = Totals([0.0; GROUP * TILE]);
        for tile in 0..weights.rows / TILE {
            let values = &weights.values[tile * blocks * TILE_BYTES..][..blocks * TILE_BYTES];
            let scales = &weights.scales[tile * blocks * TILE..][..blocks * TILE];
            for row in (0..TILE).step_by(lanes) {
                for first in (0..acts.tokens).step_by(GROUP) {
                    let tokens = GROUP.min(acts.tokens - first);
                    totals.0[..tokens * lanes].fill(0.0);
                    multiply(&Part { values, scales, acts, first, tokens }, row, &mut totals);
                    let start = tile * TILE + row;
                    let bias = &bias[start..start + lanes];
                    for (t, totals) in totals.0.chunks_exact(lanes).take(tokens).enumerate() {
                        let out = &mut out[(first + t) * weights.rows + start..][..lanes];
                        for ((out, total), bias) in out.iter_mut().zip(totals).zip(bias) {
                            *out = total + bias;
                        }
                    }
                }
            }
        }
    }

    /// Four activations as one number, for the broadcast.
    ///
    /// # Safety
    /// `at` points to four values.
    #[inline(always)]
    unsafe fn four(at: *const i8) -> i32 {
        // SAFETY: readable by the caller's word; the read is an unaligned one.
        unsafe { at.cast::<i32>().read_unaligned() }
    }

    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn multiply_avx2(
        weights: &Packed,
        acts: &Quantised,
        bias: &[f32],
        out: &mut [f32],
    ) {
        each_part(weights, acts, bias, out, 8, |part, row, totals| {
            // SAFETY: AVX2 by the caller's word; `row` is 0 or 8.
            unsafe { part_avx2(part, row, totals) }
        });
    }

    /// Eight rows from `row` on. A 16-bit lane takes eight sums of two products of at most 15 x 127,
    /// 30,480 in all, so it cannot overflow within a block.
    ///
    /// # Safety
    /// The processor has AVX2; `row` is at most 8.
    #[target_feature(enable = "avx2")]
    unsafe fn part_avx2(part: &Part<'_>, row: usize, totals: &mut Totals) {
        let low = _mm256_set1_epi8(15);
        let ones = _mm256_set1_epi16(1);
        let blocks = part.values.chunks_exact(TILE_BYTES).zip(part.scales.chunks_exact(TILE));
        for (b, (values, scales)) in blocks.enumerate() {
            let mut w = [low; 8];
            for v in 0..4 {
                // SAFETY: 32 bytes from there lie within the block, as `row` is at most 8.
                let packed: __m256i =
                    unsafe { _mm256_loadu_si256(values.as_ptr().add(64 * v + 4 * row).cast()) };
                w[2 * v] = _mm256_and_si256(packed, low);
                w[2 * v + 1] = _mm256_and_si256(_mm256_srli_epi16::<4>(packed), low);
            }
            // SAFETY: eight scales from there lie within the block's 16.
            let scales = unsafe { _mm256_loadu_ps(scales.as_ptr().add(row)) };
            let (acts, act_scales, shifts) = part.acts.block(b, part.first, part.tokens);
            let steps = totals.0.as_chunks_mut::<8>().0.iter_mut().zip(acts);
            for ((total, acts), (scale, shift)) in steps.zip(act_scales.iter().zip(shifts)) {
                let at = acts.as_ptr();
                // SAFETY: a block has 32 values.
                let product = |i: usize| unsafe {
                    _mm256_maddubs_epi16(w[i], _mm256_set1_epi32(four(at.add(4 * i))))
                };
                let near = _mm256_add_epi16(
                    _mm256_add_epi16(product(0), product(1)),
                    _mm256_add_epi16(product(2), product(3)),
                );
                let far = _mm256_add_epi16(
                    _mm256_add_epi16(product(4), product(5)),
                    _mm256_add_epi16(product(6), product(7)),
                );
                let sum = _mm256_madd_epi16(_mm256_add_epi16(near, far), ones);
                let sum = _mm256_add_epi32(sum, _mm256_set1_epi32(*shift));
                let scale = _mm256_mul_ps(scales, _mm256_set1_ps(*scale));
                let part = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
                // SAFETY: `total` is eight numbers.
                unsafe {
                    let before = _mm256_loadu_ps(total.as_ptr());
                    _mm256_storeu_ps(total.as_mut_ptr(), _mm256_add_ps(before, part));
                }
            }
        }
    }

    /// # Safety
    /// The processor has AVX-512 F and VNNI.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) unsafe fn multiply_vnni(
        weights: &Packed,
        acts: &Quantised,
        bias: &[f32],
        out: &mut [f32],
    ) {
        each_part(weights, acts, bias, out, TILE, |part, _, totals| {
            // SAFETY: the instructions are there by the caller's word.
            unsafe { part_vnni(part, totals) }
        });
    }

    /// All sixteen rows; sums run in 32 bits.
    ///
    /// # Safety
    /// The processor has AVX-512 F and VNNI.
    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn part_vnni(part: &Part<'_>, totals: &mut Totals) {
        let low = _mm512_set1_epi8(15);
        let blocks = part.values.chunks_exact(TILE_BYTES).zip(part.scales.chunks_exact(TILE));
        for (b, (values, scales)) in blocks.enumerate() {
            let mut w = [low; 8];
            for v in 0..4 {
                // SAFETY: 64 bytes from there lie within the block.
                let packed: __m512i =
                    unsafe { _mm512_loadu_si512(values.as_ptr().add(64 * v).cast()) };
                w[2 * v] = _mm512_and_si512(packed, low);
                w[2 * v + 1] = _mm512_and_si512(_mm512_srli_epi32::<4>(packed), low);
            }
            // SAFETY: a block has 16 scales.
            let scales = unsafe { _mm512_loadu_ps(scales.as_ptr()) };
            let (acts, act_scales, shifts) = part.acts.block(b, part.first, part.tokens);
            let steps = totals.0.as_chunks_mut::<TILE>().0.iter_mut().zip(acts);
            for ((total, acts), (scale, shift)) in steps.zip(act_scales.iter().zip(shifts)) {
                let at = acts.as_ptr();
                // SAFETY: a block has 32 values.
                let add = |sum: __m512i, i: usize| unsafe {
                    _mm512_dpbusd_epi32(sum, w[i], _mm512_set1_epi32(four(at.add(4 * i))))
                };
                let near = add(add(add(add(_mm512_set1_epi32(*shift), 0), 1), 2), 3);
                let far = add(add(add(add(_mm512_setzero_si512(), 4), 5), 6), 7);
                let sum = _mm512_add_epi32(near, far);
                let scale = _mm512_mul_ps(scales, _mm512_set1_ps(*scale));
                let part = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale);
                // SAFETY: `total` is sixteen numbers.
                unsafe {
                    let before = _mm512_loadu_ps(total.as_ptr());
                    _mm512_storeu_ps(total.as_mut_ptr(), _mm512_add_ps(before, part));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that repeat from run to run (a linear congruential generator, Numerical Recipes).
    struct Numbers(u32);

    impl Numbers {
        fn next(&mut self) -> u32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.0 >> 8
        }

        fn float(&mut self) -> f32 {
            (self.next() % 20_001) as f32 / 10_000.0 - 1.0
        }

        fn weights(&mut self, rows: usize, columns: usize) -> Vec<u8> {
            let mut source = Vec::new();
            for _ in 0..rows * columns / 32 {
                let scale = u16::try_from(0x1c00 + self.next() % 0x800).unwrap();
                source.extend_from_slice(&scale.to_le_bytes());
                source.extend((0..16).map(|_| self.next().to_le_bytes()[0]));
            }
            source
        }
    }

    fn levels() -> Vec<Level> {
        [Level::Vnni, Level::Avx2].into_iter().filter(|level| *level >= Level::detect()).collect()
    }

    fn quantised(acts: &[f32], columns: usize) -> Quantised {
        let mut quantised = Quantised::default();
        quantised.resize(acts.len() / columns, columns);
        quantise(Level::Plain, acts, &mut quantised);
        quantised
    }

    #[test]
    fn every_level_gives_the_bits_of_the_plain_twin() {
        let mut numbers = Numbers(1);
        for (rows, columns, tokens) in
            [(16, 32, 1), (48, 384, 3), (16, 1536, 17), (32, 64, 64), (16, 96, 131)]
        {
            let weights = Packed::new(&numbers.weights(rows, columns), rows, columns);
            let acts: Vec<f32> = (0..tokens * columns).map(|_| numbers.float()).collect();
            let acts = quantised(&acts, columns);
            let bias: Vec<f32> = (0..rows).map(|_| numbers.float()).collect();
            let mut plain = vec![f32::NAN; tokens * rows];
            multiply_plain(&weights, &acts, &bias, &mut plain);
            for level in levels() {
                let mut wide = vec![f32::NAN; tokens * rows];
                multiply(level, &weights, &acts, &bias, &mut wide);
                assert!(
                    plain.iter().zip(&wide).all(|(a, b)| a.to_bits() == b.to_bits()),
                    "{level:?}"
                );
            }
        }
    }

    #[test]
    fn the_greatest_values_do_not_overflow() {
        let mut source = 0x3c00u16.to_le_bytes().to_vec();
        source.extend([0xff; 16]);
        let weights = Packed::new(&source.repeat(16), 16, 32);
        for sign in [1.0, -1.0] {
            let acts = quantised(&[sign; 32], 32);
            for level in levels().into_iter().chain([Level::Plain]) {
                let mut out = [0.0; 16];
                multiply(level, &weights, &acts, &[0.0; 16], &mut out);
                assert!(out.iter().all(|x| (x - sign * 32.0 * 7.0).abs() < 1e-3), "{out:?}");
            }
        }
    }

    #[test]
    fn quantised_and_float_products_agree() {
        let (rows, columns, tokens) = (32, 384, 5);
        let mut numbers = Numbers(7);
        let source = numbers.weights(rows, columns);
        let acts: Vec<f32> = (0..tokens * columns).map(|_| numbers.float()).collect();
        let bias: Vec<f32> = (0..rows).map(|_| numbers.float()).collect();
        let floats: Vec<f32> = crate::e5::packed::floats(&source).collect();
        let mut exact = vec![0.0; tokens * rows];
        multiply_f32(&floats, &acts, &bias, &mut exact);
        for t in 0..tokens {
            for r in 0..rows {
                let want: f32 = bias[r]
                    + (0..columns)
                        .map(|c| floats[r * columns + c] * acts[t * columns + c])
                        .sum::<f32>();
                assert!((exact[t * rows + r] - want).abs() < 1e-3);
            }
        }
        let packed = Packed::new(&source, rows, columns);
        let mut near = vec![0.0; tokens * rows];
        multiply_plain(&packed, &quantised(&acts, columns), &bias, &mut near);
        assert!(exact.iter().zip(&near).all(|(a, b)| (a - b).abs() < 0.05));
    }

    #[test]
    fn the_steps_between_have_the_same_bits_at_every_width() {
        let mut numbers = Numbers(3);
        let tokens = 19;
        let values: Vec<f32> = (0..tokens * 192).map(|_| numbers.float() * 5.0).collect();
        let run = |level| {
            let mut rows = values.clone();
            gelu(level, &mut rows);
            norm(level, &mut rows, Some(&values), &values[..64], &values[64..128], 1e-12);
            let mut out = vec![0.0; tokens * 64];
            attend(level, &values, 64, 32, &mut out, &mut Vec::new());
            let mut quantised = Quantised::default();
            quantised.resize(tokens, 192);
            quantise(level, &values, &mut quantised);
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            (bits(&rows), bits(&out), quantised.values, quantised.shifts, bits(&quantised.scales))
        };
        let plain = run(Level::Plain);
        for level in levels() {
            assert!(run(level) == plain, "{level:?}");
        }
    }
}

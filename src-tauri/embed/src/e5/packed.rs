//! The matrices of the layers, laid out for the vector kernels, and activations in 8 bits. Only moves
//! numbers about; the arithmetic is in `kernel`.

use super::file::{BLOCK, BLOCK_BYTES, half};

/// Rows that are multiplied side by side.
pub(super) const TILE: usize = 16;
/// Bytes of one block of a tile.
pub(super) const TILE_BYTES: usize = TILE * BLOCK / 2;

/// A matrix of 4-bit weights, 16 rows to a tile.
///
/// Within a tile and a block, byte `64 v + 4 r + k` holds of row `r` the value `8 v + k` in its low
/// half and the value `8 v + 4 + k` in its high half (v 0..4, r 0..16, k 0..4), each plus 8. So one
/// vector of 32-bit lanes holds four neighbouring values of each of its rows, which is what the dot
/// product instructions take.
pub(super) struct Packed {
    pub(super) rows: usize,
    /// Blocks in a row.
    pub(super) blocks: usize,
    /// Tile by tile, block by block, [`TILE_BYTES`] each.
    pub(super) values: Vec<u8>,
    /// Tile by tile, block by block, one scale for each of the 16 rows.
    pub(super) scales: Vec<f32>,
}

impl Packed {
    /// Lays out row-major blocks as the file has them: a half-precision scale, then byte `j` with
    /// value `j` low and value `j + 16` high. `rows` is a multiple of 16, `columns` of 32.
    pub(super) fn new(source: &[u8], rows: usize, columns: usize) -> Self {
        let blocks = columns / BLOCK;
        let mut values = vec![0; rows * columns / 2];
        let mut scales = vec![0.0; rows * blocks];
        for (index, block) in source.chunks_exact(BLOCK_BYTES).enumerate() {
            let (row, column) = (index / blocks, index % blocks);
            let unit = row / TILE * blocks + column;
            let r = row % TILE;
            scales[unit * TILE + r] = half(u16::from_le_bytes([block[0], block[1]]));
            let out = &mut values[unit * TILE_BYTES..][..TILE_BYTES];
            for i in 0..BLOCK {
                let value = nibble(&block[2..], i);
                let (v, k, high) = (i / 8, i % 4, i / 4 % 2 == 1);
                out[64 * v + 4 * r + k] |= if high { value << 4 } else { value };
            }
        }
        Self { rows, blocks, values, scales }
    }
}

/// Value `i` of a block, plus 8.
fn nibble(block: &[u8], i: usize) -> u8 {
    if i < 16 { block[i] & 15 } else { block[i - 16] >> 4 }
}

/// The numbers that a run of blocks stands for.
pub(super) fn floats(source: &[u8]) -> impl Iterator<Item = f32> + '_ {
    source.chunks_exact(BLOCK_BYTES).flat_map(|block| {
        let scale = half(u16::from_le_bytes([block[0], block[1]]));
        (0..BLOCK).map(move |i| (f32::from(nibble(&block[2..], i)) - 8.0) * scale)
    })
}

/// Activations in blocks of 8 bits. Block by block, and within one token by token, since a kernel
/// holds a block of weights and goes through the tokens.
#[derive(Default)]
pub(super) struct Quantised {
    /// How many rows there are.
    pub(super) tokens: usize,
    /// Blocks in a row.
    pub(super) blocks: usize,
    /// 32 values per block, -127..=127.
    pub(super) values: Vec<[i8; BLOCK]>,
    /// One scale per block.
    pub(super) scales: Vec<f32>,
    /// -8 times the sum of each block's values.
    pub(super) shifts: Vec<i32>,
}

impl Quantised {
    /// Makes room for `tokens` rows of `columns` numbers.
    pub(super) fn resize(&mut self, tokens: usize, columns: usize) {
        self.tokens = tokens;
        self.blocks = columns / BLOCK;
        let count = tokens * self.blocks;
        self.values.resize(count, [0; BLOCK]);
        self.scales.resize(count, 0.0);
        self.shifts.resize(count, 0);
    }

    /// Values, scales and shifts of block `block` of some tokens.
    #[inline(always)]
    pub(super) fn block(
        &self,
        block: usize,
        first: usize,
        tokens: usize,
    ) -> (&[[i8; BLOCK]], &[f32], &[i32]) {
        let start = block * self.tokens + first;
        let range = start..start + tokens;
        (&self.values[range.clone()], &self.scales[range.clone()], &self.shifts[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of 16 x 64 whose value at (row, column) is known from both layouts.
    #[test]
    fn every_value_finds_its_place() {
        let (rows, columns) = (16, 64);
        let value = |row: usize, column: usize| u8::try_from((row * 5 + column * 3) % 16).unwrap();
        let mut source = Vec::new();
        for row in 0..rows {
            for block in 0..columns / BLOCK {
                // 1.0 in half precision, doubled for the second block.
                source.extend_from_slice(
                    &(0x3c00u16 + 0x400 * u16::try_from(block).unwrap()).to_le_bytes(),
                );
                source.extend((0..16).map(|j| {
                    let at = block * BLOCK + j;
                    value(row, at) | value(row, at + 16) << 4
                }));
            }
        }
        let packed = Packed::new(&source, rows, columns);
        let floats: Vec<f32> = floats(&source).collect();
        for row in 0..rows {
            for column in 0..columns {
                let (block, i) = (column / BLOCK, column % BLOCK);
                let byte = packed.values[block * TILE_BYTES + 64 * (i / 8) + 4 * row + i % 4];
                let got = if i / 4 % 2 == 1 { byte >> 4 } else { byte & 15 };
                assert_eq!(got, value(row, column), "{row} {column}");
                let scale = packed.scales[block * TILE + row];
                assert_eq!(scale, [1.0, 2.0][block]);
                assert_eq!(floats[row * columns + column], (f32::from(got) - 8.0) * scale);
            }
        }
    }
}

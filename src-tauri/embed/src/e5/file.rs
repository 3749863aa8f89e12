//! The file of weights, mapped read-only: header, vocabulary, replacement table and tensors by name.
//! Everything is read through checked slices, so a damaged file is an error and never a wrong read.
//!
//! Layout (little-endian): magic `E5S1`, version 1; 32-bit hidden size, layers, heads, inner size,
//! rows of the word table, positions, token types, f32 epsilon of the norms, values per block; piece
//! count and the ids of start, end, padding and unknown; 64-bit size of the piece text; count + 1
//! offsets, count scores (f32), the piece text; count and byte size of the replacements, each a
//! character, a length byte and that many characters; count of tensors, each a name with a 16-bit
//! length, a type byte (0 f32, 1 blocks), 32-bit value count, 64-bit offset and byte size.

use std::{collections::HashMap, fs::File, ops::Range, path::Path};

use memmap2::Mmap;

use super::Pin;
use crate::Error;

/// Values that share one scale.
pub(super) const BLOCK: usize = 32;
/// Bytes of a block: a half-precision scale, then 32 values of 4 bits.
pub(super) const BLOCK_BYTES: usize = 18;

/// The opened file.
pub(super) struct Weights {
    map: Mmap,
    pub(super) shape: Shape,
    pub(super) vocabulary: Vocabulary,
    tensors: HashMap<String, Tensor>,
}

/// The model's dimensions, as the header states them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) inner: usize,
    pub(super) positions: usize,
    pub(super) epsilon: f32,
}

/// Where the parts of the vocabulary lie, and the ids with a role.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    pub(super) count: usize,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) unknown: u32,
    offsets: usize,
    scores: usize,
    text: Range<usize>,
    /// Character to its replacement; the empty replacement removes it.
    pub(super) replacements: HashMap<u32, Box<[char]>>,
}

#[derive(Debug, Clone)]
struct Tensor {
    blocks: bool,
    values: usize,
    bytes: Range<usize>,
}

impl Weights {
    /// Maps the file and reads its directory. The byte size is compared with the pinned one, which
    /// catches a cut-off copy; the hash is checked where the file is fetched and packed.
    pub(super) fn open(path: &Path, pin: &Pin) -> Result<Self, Error> {
        let unusable = |what: String| Error::WeightsUnusable { path: path.to_owned(), what };
        let map = map(path)?;
        if map.len() as u64 != pin.bytes {
            return Err(unusable(format!("{} bytes where {} belong", map.len(), pin.bytes)));
        }
        let (shape, vocabulary, tensors) = read(&map).map_err(unusable)?;
        Ok(Self { map, shape, vocabulary, tensors })
    }

    /// A tensor stored as f32.
    pub(super) fn floats(&self, name: &str, values: usize) -> Result<Vec<f32>, String> {
        let bytes = self.tensor(name, false, values)?;
        Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// The blocks of a tensor stored in 4 bits.
    pub(super) fn blocks(&self, name: &str, values: usize) -> Result<&[u8], String> {
        self.tensor(name, true, values)
    }

    /// Where the blocks of a tensor lie, for a table that stays in the mapped file.
    pub(super) fn place(&self, name: &str, values: usize) -> Result<Range<usize>, String> {
        self.tensor(name, true, values)?;
        Ok(self.tensors[name].bytes.clone())
    }

    /// Bytes of a place found by [`Weights::place`].
    pub(super) fn bytes(&self, place: Range<usize>) -> &[u8] {
        &self.map[place]
    }

    /// The text of one piece.
    pub(super) fn piece(&self, id: usize) -> &[u8] {
        let v = &self.vocabulary;
        let at = |i: usize| le32(&self.map, v.offsets + 4 * i) as usize;
        &self.map[v.text.clone()][at(id)..at(id + 1)]
    }

    /// The score of one piece: the logarithm of its share in the model's training text.
    pub(super) fn score(&self, id: usize) -> f32 {
        f32::from_bits(le32(&self.map, self.vocabulary.scores + 4 * id))
    }

    fn tensor(&self, name: &str, blocks: bool, values: usize) -> Result<&[u8], String> {
        let found = self.tensors.get(name).ok_or_else(|| format!("no tensor {name}"))?;
        if found.blocks != blocks || found.values != values {
            return Err(format!("tensor {name} has another shape"));
        }
        Ok(&self.map[found.bytes.clone()])
    }
}

/// The map itself is the one use of `unsafe` outside the kernels.
#[expect(unsafe_code, reason = "mapping a file has no safe form")]
fn map(path: &Path) -> Result<Mmap, Error> {
    let file = File::open(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::WeightsMissing { path: path.to_owned() },
        _ => Error::WeightsUnreadable { path: path.to_owned(), source },
    })?;
    // SAFETY: the map is read-only and the file is a resource of the installed program, which nothing
    // writes to while it runs; an update puts a new file in its place.
    unsafe { Mmap::map(&file) }
        .map_err(|source| Error::WeightsUnreadable { path: path.to_owned(), source })
}

/// Reads header, vocabulary and directory, checking that each part lies inside the file.
fn read(data: &[u8]) -> Result<(Shape, Vocabulary, HashMap<String, Tensor>), String> {
    let mut at = Cursor { data, at: 0 };
    if at.take(4)? != b"E5S1" || at.u32()? != 1 {
        return Err("not a file of weights of a known version".into());
    }
    let [hidden, layers, heads, inner] = [at.len()?, at.len()?, at.len()?, at.len()?];
    at.take(4)?; // rows of the word table; the tensor's own size is checked instead
    let positions = at.len()?;
    at.take(4)?; // token types
    let epsilon = f32::from_bits(at.u32()?);
    if at.len()? != BLOCK || heads == 0 || !hidden.is_multiple_of(heads * 8) || positions < 3 {
        return Err("a shape that the forward pass does not know".into());
    }
    let shape = Shape { hidden, layers, heads, inner, positions, epsilon };
    let vocabulary = read_vocabulary(&mut at)?;
    let count = at.len()?;
    let mut tensors = HashMap::new();
    for _ in 0..count {
        let (name, tensor) = read_tensor(&mut at)?;
        tensors.insert(name, tensor);
    }
    Ok((shape, vocabulary, tensors))
}

fn read_vocabulary(at: &mut Cursor<'_>) -> Result<Vocabulary, String> {
    let count = at.len()?;
    let [start, end] = [at.u32()?, at.u32()?];
    at.take(4)?; // padding, which ragged batches never need
    let unknown = at.u32()?;
    let text_bytes = usize::try_from(at.u64()?).map_err(|_| "too large a vocabulary")?;
    let offsets = at.at;
    let raw = at.take(4 * (count + 1))?;
    let sorted = (0..count).all(|i| le32(raw, 4 * i) <= le32(raw, 4 * i + 4));
    if !sorted || le32(raw, 4 * count) as usize > text_bytes {
        return Err("piece offsets out of order".into());
    }
    let scores = at.at;
    at.take(4 * count)?;
    let text = at.at..at.at + text_bytes;
    at.take(text_bytes)?;
    let entries = at.len()?;
    let end_of_entries = at.len()? + at.at;
    let mut replacements = HashMap::with_capacity(entries);
    for _ in 0..entries {
        let from = at.u32()?;
        let length = usize::from(at.take(1)?[0]);
        let to: Result<_, String> =
            (0..length).map(|_| char::from_u32(at.u32()?).ok_or("no character".into())).collect();
        replacements.insert(from, to?);
    }
    if at.at != end_of_entries {
        return Err("a replacement table of another length".into());
    }
    Ok(Vocabulary { count, start, end, unknown, offsets, scores, text, replacements })
}

fn read_tensor(at: &mut Cursor<'_>) -> Result<(String, Tensor), String> {
    let length = at.take(2)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let name = std::str::from_utf8(at.take(length)?).map_err(|_| "a tensor without a name")?;
    let blocks = at.take(1)?[0] == 1;
    let values = at.len()?;
    let offset = usize::try_from(at.u64()?).map_err(|_| "a tensor out of reach")?;
    let size = usize::try_from(at.u64()?).map_err(|_| "a tensor out of reach")?;
    let wanted = if blocks { values / BLOCK * BLOCK_BYTES } else { values * 4 };
    let end = offset.checked_add(size).filter(|end| *end <= at.data.len());
    match end {
        Some(end) if size == wanted => {
            Ok((name.to_owned(), Tensor { blocks, values, bytes: offset..end }))
        }
        _ => Err(format!("tensor {name} does not fit the file")),
    }
}

/// Reads forward; every step is checked against the end.
struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(bytes).filter(|end| *end <= self.data.len());
        let end = end.ok_or("it ends too early")?;
        let part = &self.data[self.at..end];
        self.at = end;
        Ok(part)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take(4).map(|bytes| le32(bytes, 0))
    }

    fn len(&mut self) -> Result<usize, String> {
        self.u32().map(|n| n as usize)
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }
}

fn le32(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
}

/// IEEE half precision to single. Not a number cannot occur in weights and comes out infinite.
pub(super) fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        // Subnormal: a whole number of steps of 2^-24.
        0 => {
            let value = fraction as f32 * f32::from_bits(0x3380_0000);
            f32::from_bits(value.to_bits() | sign)
        }
        31 => f32::from_bits(sign | 0x7f80_0000),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_exact() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x7bff, 65504.0),
            (0x0000, 0.0),
        ] {
            assert_eq!(half(bits), value, "{bits:#06x}");
        }
    }

    #[test]
    fn a_cut_header_is_an_error() {
        let mut data = b"E5S1".to_vec();
        data.extend(1u32.to_le_bytes());
        data.extend([0; 20]);
        for length in 0..data.len() {
            assert!(read(&data[..length]).is_err());
        }
        assert!(read(b"GGUF\x01\0\0\0").is_err());
    }

    #[test]
    fn an_offset_beyond_the_end_is_an_error() {
        let mut entry = 1u16.to_le_bytes().to_vec();
        entry.extend(b"x\0");
        entry.extend(4u32.to_le_bytes());
        entry.extend(u64::MAX.to_le_bytes());
        entry.extend(16u64.to_le_bytes());
        assert!(read_tensor(&mut Cursor { data: &entry, at: 0 }).is_err());
    }
}

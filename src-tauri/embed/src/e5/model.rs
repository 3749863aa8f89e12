//! The forward pass: twelve transformer layers over the tokens of several texts at once, one after
//! another without padding. Takes token ids, gives the mean of each text's last layer; knows nothing
//! of characters, windows or threads.

use std::ops::Range;

use super::{
    file::{Shape, Weights},
    kernel::{self, Level},
    lanes::HEAD,
    packed::{Packed, Quantised, floats},
};

/// The layers, ready to run. The word table, three quarters of the weights, stays in the mapped file;
/// only the rows that a text needs are read from it.
pub(super) struct Model {
    level: Level,
    shape: Shape,
    words: Range<usize>,
    /// Position and (only) token type added up, a row per position.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Queries, keys and values as one matrix.
    qkv: Linear,
    out: Linear,
    attended: Norm,
    up: Linear,
    down: Linear,
    finished: Norm,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Linear {
    matrix: Matrix,
    bias: Vec<f32>,
}

enum Matrix {
    /// 4-bit weights, multiplied with 8-bit activations.
    Packed(Packed),
    /// f32, row-major.
    Float(Vec<f32>),
}

/// Buffers of one thread, grown to the largest batch seen.
#[derive(Default)]
pub(super) struct Scratch {
    quantised: Quantised,
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
    added: Vec<f32>,
    attention: Vec<f32>,
}

impl Model {
    /// Lays out the layers for the given level. Says what does not fit when a tensor is missing or of
    /// another shape.
    pub(super) fn new(weights: &Weights, level: Level) -> Result<Self, String> {
        let shape = weights.shape;
        if shape.hidden != shape.heads * HEAD || !shape.inner.is_multiple_of(HEAD) {
            return Err("heads of another size".into());
        }
        let rows = weights.vocabulary.unknown.max(weights.vocabulary.end) as usize;
        let words = weights.place("emb.word", WORD_ROWS * shape.hidden)?;
        if rows >= WORD_ROWS || weights.vocabulary.count > WORD_ROWS {
            return Err("more pieces than rows in the word table".into());
        }
        let mut positions = weights.floats("emb.pos", shape.positions * shape.hidden)?;
        let kind = weights.floats("emb.type", 2 * shape.hidden)?;
        for row in positions.chunks_exact_mut(shape.hidden) {
            row.iter_mut().zip(&kind).for_each(|(x, k)| *x += k);
        }
        let layers = (0..shape.layers)
            .map(|n| Layer::new(weights, level, &format!("l{n}")))
            .collect::<Result<_, _>>()?;
        let norm = Norm::new(weights, "emb.ln")?;
        Ok(Self { level, shape, words, positions, norm, layers })
    }

    /// The mean over the tokens of each text, in order. Each text is a list of ids with its start and
    /// end marks, at most as long as there are positions. `None` when `stopped` said so between two
    /// layers.
    pub(super) fn run(
        &self,
        weights: &Weights,
        texts: &[&[u32]],
        scratch: &mut Scratch,
        stopped: &dyn Fn() -> bool,
    ) -> Option<Vec<Vec<f32>>> {
        let spans = spans(texts);
        self.look_up(weights, texts, &mut scratch.hidden);
        for layer in &self.layers {
            if stopped() {
                return None;
            }
            self.run_layer(layer, &spans, scratch);
        }
        let hidden = self.shape.hidden;
        Some(
            spans
                .into_iter()
                .map(|span| mean(&scratch.hidden[span.start * hidden..span.end * hidden], hidden))
                .collect(),
        )
    }

    /// Word, position and type of every token, normed.
    fn look_up(&self, weights: &Weights, texts: &[&[u32]], out: &mut Vec<f32>) {
        let hidden = self.shape.hidden;
        let table = weights.bytes(self.words.clone());
        let row_bytes = table.len() / WORD_ROWS;
        out.clear();
        for text in texts {
            for (id, position) in text.iter().zip(self.positions.chunks_exact(hidden)) {
                let row = &table[*id as usize * row_bytes..][..row_bytes];
                out.extend(floats(row).zip(position).map(|(word, position)| word + position));
            }
        }
        let norm = &self.norm;
        kernel::norm(self.level, out, None, &norm.weight, &norm.bias, self.shape.epsilon);
    }

    fn run_layer(&self, layer: &Layer, spans: &[Range<usize>], scratch: &mut Scratch) {
        let Scratch { quantised, hidden, qkv, context, inner, added, attention } = scratch;
        let (level, epsilon, width) = (self.level, self.shape.epsilon, self.shape.hidden);
        layer.qkv.apply(level, hidden, quantised, qkv);
        context.resize(hidden.len(), 0.0);
        for span in spans {
            let qkv = &qkv[span.start * 3 * width..span.end * 3 * width];
            let context = &mut context[span.start * width..span.end * width];
            for head in 0..self.shape.heads {
                kernel::attend(level, qkv, width, head * HEAD, context, attention);
            }
        }
        layer.out.apply(level, context, quantised, added);
        let norm = &layer.attended;
        kernel::norm(level, hidden, Some(added), &norm.weight, &norm.bias, epsilon);
        layer.up.apply(level, hidden, quantised, inner);
        kernel::gelu(level, inner);
        layer.down.apply(level, inner, quantised, added);
        let norm = &layer.finished;
        kernel::norm(level, hidden, Some(added), &norm.weight, &norm.bias, epsilon);
    }
}

/// Rows of the word table; more than there are pieces, as the model was published.
const WORD_ROWS: usize = 250_037;

impl Layer {
    fn new(weights: &Weights, level: Level, name: &str) -> Result<Self, String> {
        let Shape { hidden, inner, .. } = weights.shape;
        let linear = |parts: &[&str], rows, columns| {
            let names: Vec<_> = parts.iter().map(|part| format!("{name}.{part}")).collect();
            Linear::new(weights, level, &names, rows, columns)
        };
        Ok(Self {
            qkv: linear(&["q", "k", "v"], hidden, hidden)?,
            out: linear(&["ao"], hidden, hidden)?,
            attended: Norm::new(weights, &format!("{name}.aln"))?,
            up: linear(&["fi"], inner, hidden)?,
            down: linear(&["fo"], hidden, inner)?,
            finished: Norm::new(weights, &format!("{name}.oln"))?,
        })
    }
}

impl Norm {
    fn new(weights: &Weights, name: &str) -> Result<Self, String> {
        let width = weights.shape.hidden;
        Ok(Self {
            weight: weights.floats(&format!("{name}.w"), width)?,
            bias: weights.floats(&format!("{name}.b"), width)?,
        })
    }
}

impl Linear {
    /// The matrices of `names`, `rows` by `columns` each, one below the other.
    fn new(
        weights: &Weights,
        level: Level,
        names: &[String],
        rows: usize,
        columns: usize,
    ) -> Result<Self, String> {
        let (mut blocks, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            blocks.extend_from_slice(weights.blocks(&format!("{name}.w"), rows * columns)?);
            bias.extend(weights.floats(&format!("{name}.b"), rows)?);
        }
        let matrix = match level {
            Level::Plain => Matrix::Float(floats(&blocks).collect()),
            _ => Matrix::Packed(Packed::new(&blocks, rows * names.len(), columns)),
        };
        Ok(Self { matrix, bias })
    }

    /// The product with every row of `acts`, plus the bias.
    fn apply(&self, level: Level, acts: &[f32], quantised: &mut Quantised, out: &mut Vec<f32>) {
        let rows = self.bias.len();
        match &self.matrix {
            Matrix::Packed(packed) => {
                let columns = packed.blocks * super::file::BLOCK;
                quantised.resize(acts.len() / columns, columns);
                out.resize(acts.len() / columns * rows, 0.0);
                kernel::quantise(level, acts, quantised);
                kernel::multiply(level, packed, quantised, &self.bias, out);
            }
            Matrix::Float(matrix) => {
                let columns = matrix.len() / rows;
                out.resize(acts.len() / columns * rows, 0.0);
                kernel::multiply_f32(matrix, acts, &self.bias, out);
            }
        }
    }
}

/// Where each text's tokens lie when all are put one after another.
fn spans(texts: &[&[u32]]) -> Vec<Range<usize>> {
    let mut end = 0;
    texts
        .iter()
        .map(|text| {
            let start = end;
            end += text.len();
            start..end
        })
        .collect()
}

/// The mean row.
fn mean(rows: &[f32], width: usize) -> Vec<f32> {
    let mut total = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        total.iter_mut().zip(row).for_each(|(t, x)| *t += x);
    }
    let count = (rows.len() / width).max(1) as f32;
    total.iter_mut().for_each(|t| *t /= count);
    total
}

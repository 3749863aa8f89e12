//! Speed, one module per chapter. Ignored by default: the figures mean something only in an
//! optimised build on a quiet machine (`npm run bench`).

mod memory;
mod reflect;

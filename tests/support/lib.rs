//! What the tests of this folder share: the place of the vectors, a scripted engine, small fixtures.

/// The folder of the test vectors: `CASES_DIR` when it is set, else this repository's own copy.
#[must_use]
pub fn cases_dir() -> std::path::PathBuf {
    std::env::var_os("CASES_DIR").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"),
        std::path::PathBuf::from,
    )
}

//! The bundled embedder against the reference engine of its weights: 220 texts in ten languages,
//! long ones and oddities included. The expected values were made once by that engine, compiled from
//! the weights' own package.

use std::{collections::HashMap, path::PathBuf};

use embed::{Bundled, Embedder, Kind, Pin, cosine};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

#[derive(Deserialize)]
struct Fixture {
    sentences: HashMap<String, Vec<String>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    group: String,
    kind: String,
    parts: Vec<usize>,
    tokens: usize,
    ids: String,
    vector: String,
}

impl Case {
    fn kind(&self) -> Kind {
        if self.kind == "query" { Kind::Query } else { Kind::Passage }
    }

    fn text(&self, sentences: &HashMap<String, Vec<String>>) -> String {
        let group = &sentences[&self.group];
        self.parts.iter().map(|part| group[*part].as_str()).collect::<Vec<_>>().join(" ")
    }

    fn vector(&self) -> Vec<f32> {
        let bytes = (0..self.vector.len()).step_by(2).map(|at| &self.vector[at..at + 2]);
        let mut vector: Vec<f32> = bytes
            .map(|byte| f32::from(u8::from_str_radix(byte, 16).expect("hexadecimal").cast_signed()))
            .collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
        vector
    }
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("parity.json")).expect("the fixture")
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.build").join(Bundled::FOLDER)
}

fn bundled() -> Bundled {
    Bundled::open(&folder()).unwrap_or_else(|error| {
        panic!("{error}; run the set-up step first: node src-tauri/embed/fetch-weights.mjs")
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn token_ids_are_equal() {
    let (bundled, fixture) = (bundled(), fixture());
    assert!(fixture.cases.len() >= 200);
    for case in &fixture.cases {
        let text = case.text(&fixture.sentences);
        let ids = bundled.token_ids(&text, case.kind());
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        assert_eq!(ids.len(), case.tokens, "{text}");
        assert_eq!(hex(&Sha256::digest(&bytes)[..8]), case.ids, "{text}");
    }
}

#[tokio::test]
async fn vectors_are_near_equal() {
    let (bundled, fixture) = (bundled(), fixture());
    let cancel = CancellationToken::new();
    let mut cosines = Vec::new();
    for kind in [Kind::Query, Kind::Passage] {
        let cases: Vec<_> = fixture.cases.iter().filter(|case| case.kind() == kind).collect();
        let texts: Vec<_> = cases.iter().map(|case| case.text(&fixture.sentences)).collect();
        let vectors = bundled.embed(&texts, kind, &cancel).await.unwrap();
        assert_eq!(vectors.len(), texts.len());
        for ((case, text), vector) in cases.iter().zip(&texts).zip(&vectors) {
            assert!((cosine(vector, vector) - 1.0).abs() < 1e-5, "unit length: {text}");
            let same = cosine(vector, &case.vector());
            assert!(same >= 0.999, "{same}: {text}");
            cosines.push(same);
        }
    }
    cosines.sort_by(f32::total_cmp);
    println!("cosine: lowest {}, median {}", cosines[0], cosines[cosines.len() / 2]);
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_batch() {
    let (bundled, fixture) = (bundled(), fixture());
    let cancel = CancellationToken::new();
    let texts: Vec<_> =
        fixture.cases.iter().take(20).map(|case| case.text(&fixture.sentences)).collect();
    let together = bundled.embed(&texts, Kind::Passage, &cancel).await.unwrap();
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(
            bundled.embed_one(text, Kind::Passage, &cancel).await.unwrap(),
            vector,
            "{text}"
        );
    }
}

#[test]
fn the_weights_are_the_pinned_ones() {
    drop(bundled());
    let bytes = std::fs::read(folder().join(&Pin::get().file)).unwrap();
    assert_eq!(hex(&Sha256::digest(&bytes)), Pin::get().sha256);
    for licence in &Pin::get().licences {
        let text = std::fs::read_to_string(folder().join(licence)).unwrap();
        assert!(text.contains("MIT License"), "{licence}");
    }
}

#[tokio::test]
async fn a_set_token_cancels() {
    let bundled = bundled();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = bundled.embed(&["text".into()], Kind::Query, &cancel).await;
    assert!(matches!(outcome, Err(embed::Error::Cancelled)));
}

#[test]
fn a_missing_or_wrong_file_is_named() {
    let place = tempfile::tempdir().unwrap();
    let outcome = Bundled::open(place.path()).err().unwrap();
    assert!(matches!(outcome, embed::Error::WeightsMissing { .. }), "{outcome}");
    std::fs::write(place.path().join(&Pin::get().file), b"E5S1").unwrap();
    let outcome = Bundled::open(place.path()).err().unwrap();
    assert!(matches!(outcome, embed::Error::WeightsUnusable { .. }), "{outcome}");
}

#[tokio::test]
async fn no_texts_no_vectors() {
    let cancel = CancellationToken::new();
    assert!(bundled().embed(&[], Kind::Query, &cancel).await.unwrap().is_empty());
}

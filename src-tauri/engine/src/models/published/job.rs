//! What a look at a published file needs and comes to: the model as it is published, the file as it
//! was known last, and what the file on the disk says to that. Blocking where it touches the file.

use super::file::{self, Found, Next};
use super::outside::{Offered, Outside};
use domain::document::LineEnd;
use domain::page::{
    FrontMatter, MODEL_TYPE, PAGE_TYPE, foreign_lines, split_front_matter, without_mark,
};
use domain::published::{FileSeen, FileStep, plan_file};
use domain::{Instant, ModelId};
use std::path::PathBuf;
use store::models::Model;
use store::models::provenance::{self, PublishState as State, PublishTarget};
use store::versions::{self, VersionCause};
use store::{BankKey, ModelKey, ReadTx};

/// What is said of a file whose header somebody changed where it is ours.
const HEADER_CHANGED: &str = "Lines at the top of the file that are written from here were changed. \
    Change the name, question or tags here, or write the file now to put those lines back.";

/// A model with all that its file depends on.
pub(super) struct Job {
    model: Model,
    pub(super) target: PublishTarget,
    /// The published version and when it came; none before the first, or when a person cleared the
    /// document.
    version: Option<(u32, Instant)>,
    /// Hashes of the documents that the file may hold without that having been noted.
    ours: Vec<Vec<u8>>,
    pub(super) offered: Offered,
    page: Option<String>,
}

impl Job {
    pub(super) fn read(
        tx: &ReadTx<'_>,
        bank: BankKey,
        id: &ModelId,
    ) -> store::Result<Option<Self>> {
        let model = store::models::get(tx, bank, id)?;
        let key = model.head.key;
        let Some(target) = provenance::publish_target(tx, key)? else { return Ok(None) };
        let newest = versions::list(tx, key, None, 1)?.into_iter().next();
        let newest = newest.filter(|head| head.version == model.head.version);
        let version = newest
            .filter(|head| head.cause != VersionCause::Clear)
            .map(|head| (head.version, head.created_at));
        let mut ours = versions::content_hashes(tx, key, target.last_version.unwrap_or(0))?;
        ours.retain(|own| *own != file::hash(b""));
        let offered = Offered::read(tx, bank, key)?;
        let page = store::kb::of_model(tx, key)?.map(|node| node.id.0);
        Ok(Some(Self { model, target, version, ours, offered, page }))
    }

    pub(super) fn key(&self) -> ModelKey {
        self.model.head.key
    }

    pub(super) fn model_id(&self) -> &ModelId {
        &self.model.head.id
    }

    /// The published version, whether or not a file follows it.
    pub(super) fn published(&self) -> u32 {
        self.model.head.version
    }

    fn number(&self) -> Option<u32> {
        self.version.map(|(number, _)| number)
    }

    /// The file as it would be written, with the lines of its header that others wrote.
    fn wanted(&self, found: &Found) -> Option<Vec<u8>> {
        let (_, at) = self.version?;
        let content = &self.model.content;
        if !self.target.front_matter {
            return Some(content.clone().into_bytes());
        }
        let header = found.text().and_then(|text| split_front_matter(text).0);
        let foreign = header.map(foreign_lines).unwrap_or_default();
        let header = self.front(Some(at)).render(&foreign, LineEnd::of(content));
        Some((header + content).into_bytes())
    }

    fn front(&self, timestamp: Option<Instant>) -> FrontMatter<'_> {
        let head = &self.model.head;
        FrontMatter {
            id: self.page.as_deref().unwrap_or(head.id.as_str()),
            title: &head.name,
            description: &head.source_query,
            tags: &head.tags,
            kind: if self.page.is_some() { PAGE_TYPE } else { MODEL_TYPE },
            timestamp,
        }
    }

    /// The header and the document in a file's text.
    fn parts<'a>(&self, text: &'a str) -> (Option<&'a str>, &'a str) {
        let (header, body) =
            if self.target.front_matter { split_front_matter(text) } else { (None, text) };
        // Some editors put a mark before every text; it is no change unless it takes one away.
        let marked = self.model.content != without_mark(&self.model.content);
        (header, if marked { body } else { without_mark(body) })
    }

    /// Whether somebody changed our lines of the header before a document of ours. Whoever asks for
    /// the file once more after being told wants ours.
    fn header_is_changed(&self, header: Option<&str>, asked: bool) -> bool {
        let told = self.target.state == State::ChangedOutside;
        let changed = header.is_some_and(|header| !self.front(None).stands_in(header));
        changed && !(asked && told)
    }

    /// Whether the text in the file is one that a person decided on, where the file does not show it.
    fn is_settled(&self, hash: &[u8]) -> bool {
        let target = &self.target;
        target.state != State::Ok && self.offered.is_settled(hash, target.updated_at)
    }

    fn plan(&self, found: &Found, wanted: Option<&[u8]>, asked: bool) -> FileStep {
        let hash = found.hash();
        let (header, text) = found.text().map(|text| self.parts(text)).unzip();
        let settled = hash.as_deref().filter(|hash| self.is_settled(hash));
        let wanted_hash = wanted.map(file::hash);
        let is_ours = |text: &str| self.ours.contains(&file::hash(text.as_bytes()));
        let ours = text.is_some_and(is_ours);
        // What was decided on gives way to the decision, also when the program did not live to write.
        let asked = asked || settled.is_some();
        plan_file(&FileSeen {
            found: hash.as_deref(),
            last: self.target.last_hash.as_deref(),
            wanted: wanted_hash.as_deref().unwrap_or_default(),
            settled,
            ours,
            header: ours && self.header_is_changed(header.flatten(), asked),
            blank: text.is_some_and(|text| text.trim().is_empty()),
            due: self.number().is_some_and(|now| asked || self.target.last_version != Some(now)),
        })
    }

    /// What becomes of the file as it was found, and what a look that ends so comes to. `known` is
    /// the target with what the file itself tells of it.
    fn decide(&self, found: &Found, known: &PublishTarget, asked: bool) -> (Next, Looked) {
        let wanted = self.wanted(found);
        let fine = PublishTarget { state: State::Ok, error: None, ..known.clone() };
        let holds = |bytes: &[u8]| {
            let (last_hash, last_version) = (Some(file::hash(bytes)), self.number());
            Looked::at(PublishTarget { last_hash, last_version, ..fine.clone() }, true)
        };
        match (self.plan(found, wanted.as_deref(), asked), wanted) {
            (FileStep::Header, _) => {
                let (state, error) = (State::ChangedOutside, Some(HEADER_CHANGED.to_owned()));
                (Next::Leave, Looked::at(PublishTarget { state, error, ..fine }, true))
            }
            (FileStep::Write, Some(bytes)) => {
                let looked = holds(&bytes);
                (Next::Write(bytes), looked)
            }
            (FileStep::Record, Some(bytes)) => (Next::Leave, holds(&bytes)),
            (FileStep::Write | FileStep::Record | FileStep::Leave, _) => {
                // What others wrote into the header is known from here on.
                let last_hash =
                    fine.last_hash.as_ref().and(found.hash()).or(fine.last_hash.clone());
                let target = PublishTarget { last_hash, ..fine };
                (Next::Leave, Looked::at(target, *found != Found::Nothing))
            }
            (FileStep::Outside, _) => (Next::Leave, self.outside(found, fine)),
        }
    }

    /// The text that somebody else wrote into the file, if it is one that can be offered.
    fn outside(&self, found: &Found, fine: PublishTarget) -> Looked {
        let outside = found.hash().zip(found.text()).map(|(hash, text)| Outside {
            path: self.target.path.clone(),
            hash,
            text: self.parts(text).1.to_owned(),
        });
        let error = match (&outside, found) {
            (Some(_), _) => None,
            (None, Found::TooLarge) => Some("The file is too large to be offered for review."),
            (None, _) => Some("The file is not text, so it cannot be offered for review."),
        };
        let error = error.map(str::to_owned);
        let target = PublishTarget { state: State::ChangedOutside, error, ..fine };
        Looked { outside, ..Looked::at(target, false) }
    }
}

/// What a look at the file came to.
pub(super) struct Looked {
    /// How the file stands then.
    pub(super) target: PublishTarget,
    /// Its text, if somebody else wrote it.
    pub(super) outside: Option<Outside>,
    /// It holds a text of ours.
    pub(super) is_ours: bool,
}

impl Looked {
    fn at(target: PublishTarget, is_ours: bool) -> Self {
        Self { target, outside: None, is_ours }
    }
}

/// Looks at the file and writes it if that is due.
pub(super) fn look(job: &Job, asked: bool) -> Looked {
    let mut known = job.target.clone();
    let looked = file::settle(&PathBuf::from(&job.target.path), |found| {
        known = job.target.clone();
        if let Some(hash) = found.hash().filter(|hash| job.is_settled(hash)) {
            // From here on the file tells that it was decided on, whatever comes of writing it.
            known.last_hash = Some(hash);
        }
        job.decide(found, &known, asked)
    });
    looked.unwrap_or_else(|error| {
        let error = Some(error.to_string());
        Looked::at(PublishTarget { state: State::Failed, error, ..known }, false)
    })
}

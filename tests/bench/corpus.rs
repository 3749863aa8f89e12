//! A bank of any size for the benchmarks: statements about people, projects, tools and places, drawn
//! with a fixed seed. Few names come up often and many seldom, as in a life; a seventh are
//! observations folded from facts. The same size always gives the same bank.

use domain::{BankId, FactType, Instant, MemoryId};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use store::entities::EntityKind;
use store::memories::{NewMemory, Origin};
use store::{BankKey, EntityKey, MemoryKey, Store, WriteTx};
use tests::at;

/// Facts written in one transaction.
const BATCH: usize = 1_000;
/// Facts of a batch after which one observation is written.
const FACTS_PER_OBSERVATION: usize = 6;

const FIRST: [&str; 40] = [
    "Edda",
    "Bram",
    "Mirjam",
    "Tobias",
    "Ilse",
    "Casimir",
    "Noemi",
    "Aurel",
    "Sunniva",
    "Piotr",
    "Leocadia",
    "Ruben",
    "Ansel",
    "Thora",
    "Jorund",
    "Malin",
    "Odile",
    "Severin",
    "Katarzyna",
    "Benedikt",
    "Yara",
    "Florian",
    "Ines",
    "Magnus",
    "Delphine",
    "Otto",
    "Renske",
    "Emeka",
    "Liv",
    "Sanjay",
    "Halima",
    "Joost",
    "Vesna",
    "Kaito",
    "Amaia",
    "Ludvig",
    "Nerea",
    "Hamid",
    "Greet",
    "Pascal",
];
const LAST: [&str; 40] = [
    "Vantongeren",
    "Brask",
    "Oyelaran",
    "Steiner",
    "Mikkelsen",
    "Duval",
    "Hofstede",
    "Zielinski",
    "Arregui",
    "Kuroda",
    "Thorsen",
    "Baptiste",
    "Eklund",
    "Ferrante",
    "Gadgil",
    "Halvorsen",
    "Iwu",
    "Jelinek",
    "Karlsen",
    "Lemaire",
    "Maro",
    "Nygaard",
    "Obrecht",
    "Paquet",
    "Quiroga",
    "Rasmussen",
    "Salcedo",
    "Tveit",
    "Ullmann",
    "Verbeke",
    "Wadhwa",
    "Xanthos",
    "Ystad",
    "Zeller",
    "Abreu",
    "Bjork",
    "Cermak",
    "Dahl",
    "Estevez",
    "Fogel",
];
const PROJECT: [&str; 25] = [
    "Sextant",
    "Lodestar",
    "Ferryman",
    "Tidewater",
    "Cormorant",
    "Windlass",
    "Bulwark",
    "Fathom",
    "Gannet",
    "Hawser",
    "Jetsam",
    "Keelson",
    "Leeward",
    "Mizzen",
    "Narwhal",
    "Outrigger",
    "Pelican",
    "Quayside",
    "Rigger",
    "Sounding",
    "Topsail",
    "Undertow",
    "Vanguard",
    "Whaler",
    "Yardarm",
];
const PART: [&str; 10] = [
    "", " Billing", " Portal", " Archive", " Planner", " Mobile", " Reports", " Search", " Core",
    " Relay",
];
const TOOL: [&str; 20] = [
    "Postgres",
    "Kafka",
    "Terraform",
    "Grafana",
    "Redis",
    "Airflow",
    "Figma",
    "Bazel",
    "Svelte",
    "Docker",
    "Sentry",
    "Ansible",
    "Elixir",
    "Nginx",
    "Vault",
    "Jenkins",
    "Spark",
    "Helm",
    "Pulsar",
    "SQLite",
];
const PLACE: [&str; 18] = [
    "Bergen", "Ghent", "Porto", "Tallinn", "Lyon", "Split", "Krakow", "Oslo", "Aarhus", "Trieste",
    "Bilbao", "Leipzig", "Turku", "Graz", "Delft", "Cork", "Basel", "Malaga",
];
const WHY: [&str; 10] = [
    "the licence became too dear",
    "two nights without service",
    "an audit found gaps",
    "the supplier closed",
    "builds took an hour",
    "nobody owned the code",
    "storage ran short",
    "a customer insisted",
    "the pilot went badly",
    "the law changed",
];
const HABIT: [&str; 12] = [
    "reviews before lunch",
    "written notes instead of calls",
    "small merge requests",
    "a quiet desk by the window",
    "tea over coffee",
    "walking meetings",
    "sketches before code",
    "one long demo a month",
    "early trains",
    "dark screens",
    "two monitors",
    "short stand-ups",
];
const HOBBY: [&str; 10] = [
    "sailing",
    "choir practice",
    "pottery",
    "long runs",
    "chess",
    "beekeeping",
    "old radios",
    "rowing",
    "bread baking",
    "the cello",
];
const MONTH: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Days over which the facts are spread.
const DAYS: i64 = 720;

/// A small generator with a fixed seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// Below `n`, small numbers more often: the first tenth about three times in ten.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn skewed(&mut self, n: usize) -> usize {
        let even = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((n as f64) * even.powf(1.9)) as usize
    }
}

/// One drawn statement.
struct Drawn {
    text: String,
    names: Vec<String>,
    tag: Option<String>,
    at: Instant,
    experience: bool,
}

/// The names of a bank of some size.
#[derive(Clone)]
struct World {
    people: Vec<String>,
    projects: Vec<String>,
    facts: usize,
}

impl World {
    fn of(facts: usize) -> Self {
        let mut people: Vec<String> = FIRST
            .iter()
            .flat_map(|first| LAST.iter().map(move |last| format!("{first} {last}")))
            .collect();
        let mut dice = Dice(11);
        for n in (1..people.len()).rev() {
            people.swap(n, dice.below(n + 1));
        }
        let mut projects: Vec<String> = PART
            .iter()
            .flat_map(|part| PROJECT.iter().map(move |project| format!("{project}{part}")))
            .collect();
        people.truncate((30 + facts / 100).min(people.len()));
        projects.truncate((12 + facts / 250).min(projects.len()));
        Self { people, projects, facts }
    }

    fn person(&self, dice: &mut Dice) -> String {
        self.people[dice.skewed(self.people.len())].clone()
    }

    fn project(&self, dice: &mut Dice) -> String {
        self.projects[dice.skewed(self.projects.len())].clone()
    }

    fn draw(&self, n: usize, dice: &mut Dice) -> Drawn {
        let spread = i64::try_from(n).unwrap() * DAYS * 24 / i64::try_from(self.facts).unwrap();
        let told = at("2024-03-01T08:00:00Z") + chrono::Duration::hours(spread);
        let (who, other) = (self.person(dice), self.person(dice));
        let (project, tool, place) = (self.project(dice), dice.one(&TOOL), dice.one(&PLACE));
        let number = 2 + dice.below(980);
        let day = told.format("%-d %B %Y");
        let (text, names) = match dice.below(10) {
            0 => (
                format!(
                    "{who} took over {project} from {other} on {day} with {number} tasks still open."
                ),
                vec![who.clone(), other, project.clone()],
            ),
            1 => (
                format!(
                    "While on {project}, {who} likes {} best, as note {number} records.",
                    dice.one(&HABIT)
                ),
                vec![who.clone(), project.clone()],
            ),
            2 => (
                format!(
                    "{project} gave up {tool} because {} and now saves {number} euros a month.",
                    dice.one(&WHY)
                ),
                vec![project.clone(), tool.to_owned()],
            ),
            3 => (
                format!(
                    "{who} and {other} agreed in {place} on {day} what {project} has to deliver, {number} items in all."
                ),
                vec![who.clone(), other, project.clone(), place.to_owned()],
            ),
            4 => (
                format!(
                    "Outside work {who} spends time on {} and has done so {number} times in {place}.",
                    dice.one(&HOBBY)
                ),
                vec![who.clone(), place.to_owned()],
            ),
            5 => (
                format!(
                    "Fault {number} stopped {project} on {day} when {tool} failed; {who} brought it back."
                ),
                vec![project.clone(), tool.to_owned(), who.clone()],
            ),
            6 => (
                format!(
                    "{project} opens to customers in {place} next quarter at a cost of {number} thousand euros."
                ),
                vec![project.clone(), place.to_owned()],
            ),
            7 => (
                format!("{other} works for {who} since the change of teams number {number}."),
                vec![other, who.clone()],
            ),
            8 => (
                format!(
                    "{who} is away from {day} for {} days; {other} looks after {project}.",
                    number % 25 + 2
                ),
                vec![who.clone(), other, project.clone()],
            ),
            _ => (
                format!(
                    "{who} turned {tool} down for {project} since {}, see decision {number}.",
                    dice.one(&WHY)
                ),
                vec![who.clone(), tool.to_owned(), project.clone()],
            ),
        };
        let tag = match dice.below(4) {
            0 => None,
            1 => Some(format!("place:{}", place.to_lowercase())),
            _ => Some(format!("project:{}", project.to_lowercase().replace(' ', "-"))),
        };
        Drawn { text, names, tag, at: told, experience: n.is_multiple_of(9) }
    }
}

/// Turns a statement into its vector.
pub(crate) type Embed = fn(&str) -> Vec<f32>;

/// Fills a bank with so many memories; gives how long the writing took, vectors not counted.
pub(crate) async fn fill(
    store: &Store,
    bank: &BankId,
    memories: usize,
    embed: Embed,
) -> std::time::Duration {
    let world = Arc::new(World::of(memories));
    let mut dice = Dice(7);
    let mut took = std::time::Duration::ZERO;
    let mut known: HashMap<String, EntityKey> = HashMap::new();
    let mut written = 0;
    while written < memories {
        let size = BATCH.min(memories - written);
        let folded = size / (FACTS_PER_OBSERVATION + 1);
        let drawn: Vec<Drawn> = (0..size).map(|n| world.draw(written + n, &mut dice)).collect();
        let vectors: Vec<Vec<f32>> = drawn.iter().map(|fact| embed(&fact.text)).collect();
        let (bank, mut entities, first) = (bank.clone(), std::mem::take(&mut known), written);
        let start = std::time::Instant::now();
        known = store
            .write("bench", move |tx| {
                let bank = store::banks::key(tx, &bank)?;
                write_batch(tx, bank, first, folded, drawn, vectors, &mut entities)?;
                Ok(entities)
            })
            .await
            .unwrap();
        took += start.elapsed();
        written += size;
    }
    store.tidy().await.unwrap();
    took
}

fn write_batch(
    tx: &WriteTx<'_>,
    bank: BankKey,
    first: usize,
    folded: usize,
    drawn: Vec<Drawn>,
    vectors: Vec<Vec<f32>>,
    known: &mut HashMap<String, EntityKey>,
) -> store::Result<()> {
    let facts = drawn.len() - folded;
    let mut by_name: HashMap<String, Vec<MemoryKey>> = HashMap::new();
    for (n, (fact, vector)) in drawn.into_iter().zip(vectors).enumerate() {
        let id = MemoryId(format!("m{:07}", first + n));
        let tags: BTreeSet<String> = fact.tag.iter().cloned().collect();
        if n >= facts {
            let sources = by_name.get(&fact.names[0]).cloned().unwrap_or_default();
            let sources: Vec<MemoryKey> = sources.into_iter().take(120).collect();
            let new = NewMemory {
                tags,
                sources,
                vector: Some(vector),
                mentioned_at: Some(fact.at),
                ..NewMemory::fact(id, FactType::Observation, fact.text, Origin::Folded)
            };
            store::memories::insert(tx, bank, &new, fact.at)?;
            continue;
        }
        let mut entities = Vec::new();
        for name in &fact.names {
            let key = match known.get(name) {
                Some(key) => *key,
                None => {
                    let (id, canon) = (format!("e{}", known.len()), name.to_lowercase());
                    let kind = EntityKind::Regular;
                    let key = store::entities::insert(tx, bank, &id, name, &canon, kind, fact.at)?;
                    known.insert(name.clone(), key);
                    key
                }
            };
            entities.push(key);
        }
        let kind = if fact.experience { FactType::Experience } else { FactType::World };
        let new = NewMemory {
            tags,
            entities,
            vector: Some(vector),
            occurred_start: Some(fact.at),
            occurred_end: Some(fact.at),
            mentioned_at: Some(fact.at),
            ..NewMemory::fact(id, kind, fact.text, Origin::Imported)
        };
        let key = store::memories::insert(tx, bank, &new, fact.at)?;
        for name in fact.names {
            by_name.entry(name).or_default().push(key);
        }
    }
    Ok(())
}

/// Questions about a bank of this size, none twice; every fifth names a month.
pub(crate) fn questions(memories: usize, count: usize, seed: u64) -> Vec<String> {
    let world = World::of(memories);
    let mut dice = Dice(seed);
    let mut seen = BTreeSet::new();
    let mut questions = Vec::new();
    while questions.len() < count {
        let (who, project) = (world.person(&mut dice), world.project(&mut dice));
        let question = match questions.len() % 5 {
            0 => format!("What is known about {who} and {}?", dice.one(&HOBBY)),
            1 => format!("Why did {project} give up {} and who decided it?", dice.one(&TOOL)),
            2 => {
                let year = 2024 + dice.below(2);
                format!("What happened with {project} in {} {year}?", dice.one(&MONTH))
            }
            3 => format!("How does {who} like to work on {project}?"),
            _ => format!("Who met {who} in {} about {project}?", dice.one(&PLACE)),
        };
        if seen.insert(question.clone()) {
            questions.push(question);
        }
    }
    questions
}

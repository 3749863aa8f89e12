//! Changing a document by resolved actions, and keeping the books: which ids are taken, which
//! operation made or last wrote an element, and so which operation needs which. An action never
//! fails; deciding whether one may happen is the caller's part.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ElementKind, OpTrace, Target, Write, WriteKind, text_hash};
use crate::document::scan::left_open;
use crate::document::{Block, Document, IdSet, LineEnd, Section};

/// A block to be written: its final id and its text with LF line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewBlock {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// One entry of a section's new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A block of the section that stays, by id.
    Keep(String),
    /// A new block.
    New(NewBlock),
}

/// A change with everything decided. Indexes are those of the document it is performed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Insert {
        section: usize,
        at: usize,
        named: bool,
        blocks: Vec<NewBlock>,
    },
    Join {
        section: usize,
        block: usize,
        rows: String,
    },
    Replace {
        section: usize,
        block: usize,
        text: String,
        more: Vec<NewBlock>,
    },
    RemoveBlock {
        section: usize,
        block: usize,
    },
    AddSection {
        id: String,
        heading: String,
        level: u8,
        anchor: Option<usize>,
        blocks: Vec<NewBlock>,
    },
    RemoveSection {
        section: usize,
    },
    ReplaceBlocks {
        section: usize,
        entries: Vec<Entry>,
    },
    Rename {
        section: usize,
        heading: String,
    },
}

/// A document under change.
pub(crate) struct Editor {
    document: Document,
    line_end: LineEnd,
    /// Ids in use or reserved for the batch.
    pub(crate) section_ids: IdSet,
    pub(crate) block_ids: IdSet,
    /// The block that leaves a fence open, if the source did.
    open_block: Option<String>,
    created: HashMap<(ElementKind, String), u32>,
    written: HashMap<String, u32>,
    renamed: HashMap<String, u32>,
    requires: HashMap<u32, BTreeSet<u32>>,
    changed: bool,
}

impl Editor {
    /// Starts on a copy of a document. The line end is decided here, once.
    pub(crate) fn new(base: &Document) -> Self {
        Self::with_line_end(base, base.line_end())
    }

    /// Starts on a copy of a document with the line end of another (the base of a recording).
    pub(crate) fn with_line_end(base: &Document, line_end: LineEnd) -> Self {
        let open_block = base.blocks().last().filter(|block| left_open(&block.text).is_some());
        Self {
            line_end,
            section_ids: IdSet::of_sections(base),
            block_ids: IdSet::of_blocks(base),
            open_block: open_block.map(|block| block.id.clone()),
            created: HashMap::new(),
            written: HashMap::new(),
            renamed: HashMap::new(),
            requires: HashMap::new(),
            changed: false,
            document: base.clone(),
        }
    }

    /// The document as it stands.
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    /// Index of a section.
    pub(crate) fn find_section(&self, id: &str) -> Option<usize> {
        self.document.sections.iter().position(|section| section.id == id)
    }

    /// Indexes of a block: its section and its place there.
    pub(crate) fn find_block(&self, id: &str) -> Option<(usize, usize)> {
        self.document.sections.iter().enumerate().find_map(|(s, section)| {
            section.blocks.iter().position(|block| block.id == id).map(|b| (s, b))
        })
    }

    /// Whether an earlier operation of the batch created the element.
    pub(crate) fn is_created(&self, kind: ElementKind, id: &str) -> bool {
        self.created.contains_key(&(kind, id.to_owned()))
    }

    /// Performs an action on behalf of an operation. Returns what it touched, and the block whose
    /// open fence had to be closed.
    pub(crate) fn perform(&mut self, op: u32, action: Action) -> (OpTrace, Option<String>) {
        let trace = self.trace(op, &action);
        self.changed = true;
        match action {
            Action::Insert { section, at, named: _, blocks } => {
                self.insert(op, section, at, blocks)
            }
            Action::Join { section, block, rows } => self.join(op, section, block, &rows),
            Action::Replace { section, block, text, more } => {
                let text = self.line_end.write(&text);
                let target = &mut self.document.sections[section].blocks[block];
                target.text = text;
                self.written.insert(target.id.clone(), op);
                if !more.is_empty() {
                    self.insert(op, section, block + 1, more);
                }
            }
            Action::RemoveBlock { section, block } => self.remove_block(section, block),
            Action::AddSection { id, heading, level, anchor, blocks } => {
                self.add_section(op, id, heading, level, anchor, blocks);
            }
            Action::RemoveSection { section } => self.remove_section(section),
            Action::ReplaceBlocks { section, entries } => self.replace_blocks(op, section, entries),
            Action::Rename { section, heading } => {
                let target = &mut self.document.sections[section];
                target.raw = heading_line(target.level, &heading);
                target.heading = heading;
                self.renamed.insert(target.id.clone(), op);
            }
        }
        (trace, self.close_open_fence())
    }

    /// The changed document. Only now does a heading-less section that was emptied disappear; until
    /// then it could still be named.
    pub(crate) fn finish(mut self) -> Document {
        if self.changed {
            self.document.sections.retain(|s| s.level > 0 || !s.blocks.is_empty());
            if self.document.sections.is_empty() {
                self.document.lead.clear();
            }
        }
        self.document
    }

    fn separator(&self) -> String {
        self.line_end.as_str().repeat(2)
    }

    fn fresh(&mut self, op: u32, block: NewBlock) -> Block {
        self.created.insert((ElementKind::Block, block.id.clone()), op);
        self.written.insert(block.id.clone(), op);
        Block { id: block.id, text: self.line_end.write(&block.text), gap: self.separator() }
    }

    /// The gap that the last of some new elements takes when nothing stands before them.
    fn gap_at_start(&mut self, only: bool) -> String {
        if only {
            self.document.lead.clear();
            self.line_end.as_str().to_owned()
        } else {
            self.separator()
        }
    }

    fn insert(&mut self, op: u32, section: usize, at: usize, blocks: Vec<NewBlock>) {
        let separator = self.separator();
        let mut new: Vec<Block> = blocks.into_iter().map(|block| self.fresh(op, block)).collect();
        let only = self.document.sections.len() == 1;
        let place = &mut self.document.sections[section];
        if at == place.blocks.len() {
            let tail = last_element(place).map(|last| last.give_gap(&separator));
            let tail = tail.unwrap_or_else(|| self.gap_at_start(only));
            if let Some(last) = new.last_mut() {
                last.gap = tail;
            }
        }
        self.document.sections[section].blocks.splice(at..at, new);
    }

    fn join(&mut self, op: u32, section: usize, block: usize, rows: &str) {
        let end = self.line_end;
        let table = &mut self.document.sections[section].blocks[block];
        table.text.push_str(end.as_str());
        table.text.push_str(&end.write(rows));
        self.written.insert(table.id.clone(), op);
    }

    fn remove_block(&mut self, section: usize, block: usize) {
        let removed = self.document.sections[section].blocks.remove(block);
        let place = &mut self.document.sections[section];
        let before = match block.checked_sub(1) {
            Some(before) => Some(Element::of_block(&mut place.blocks[before])),
            None => Element::of_heading(place),
        };
        if let Some(before) = before {
            before.give_gap(&removed.gap);
        }
        self.release_block(&removed.id);
    }

    fn add_section(
        &mut self,
        op: u32,
        id: String,
        heading: String,
        level: u8,
        anchor: Option<usize>,
        blocks: Vec<NewBlock>,
    ) {
        let at = self.place_of_section(anchor, level);
        let blocks: Vec<Block> = blocks.into_iter().map(|block| self.fresh(op, block)).collect();
        let raw = heading_line(level, &heading);
        let section = Section { id: id.clone(), raw, heading, level, gap: String::new(), blocks };
        self.put_section(at, section);
        self.created.insert((ElementKind::Section, id), op);
    }

    /// Puts a section at a place. Its gaps are made here.
    pub(crate) fn put_section(&mut self, at: usize, mut section: Section) {
        let separator = self.separator();
        if section.level > 0 {
            section.gap.clone_from(&separator);
        }
        let tail = match last_before(&mut self.document.sections[..at]) {
            Some(before) => before.give_gap(&separator),
            None => {
                let is_empty = |s: &Section| s.level == 0 && s.blocks.is_empty();
                let only = self.document.sections.iter().all(is_empty);
                self.gap_at_start(only)
            }
        };
        if let Some(last) = last_element(&mut section) {
            last.give_gap(&tail);
        }
        self.section_ids.insert(&section.id);
        self.document.sections.insert(at, section);
        self.changed = true;
    }

    /// At the end, or after the anchor and all deeper sections that follow it, so that a new
    /// section never adopts another one's subsections.
    pub(crate) fn place_of_section(&self, anchor: Option<usize>, level: u8) -> usize {
        let sections = &self.document.sections;
        match anchor {
            None => sections.len(),
            Some(anchor) => {
                let deeper = sections[anchor + 1..].iter().take_while(|s| s.level > level).count();
                anchor + 1 + deeper
            }
        }
    }

    fn remove_section(&mut self, section: usize) {
        let mut removed = self.document.sections.remove(section);
        let tail = last_element(&mut removed).map(|last| last.give_gap(""));
        if let (Some(tail), Some(before)) =
            (tail, last_before(&mut self.document.sections[..section]))
        {
            before.give_gap(&tail);
        }
        for block in &removed.blocks {
            self.release_block(&block.id);
        }
        if !self.is_created(ElementKind::Section, &removed.id) {
            self.section_ids.release(&removed.id);
        }
    }

    fn replace_blocks(&mut self, op: u32, section: usize, entries: Vec<Entry>) {
        let separator = self.separator();
        let only = self.document.sections.len() == 1;
        let place = &mut self.document.sections[section];
        let tail = last_element(place).map(|last| last.give_gap(&separator));
        let tail = tail.unwrap_or_else(|| self.gap_at_start(only));
        let mut old: HashMap<String, Block> =
            std::mem::take(&mut self.document.sections[section].blocks)
                .into_iter()
                .map(|block| (block.id.clone(), block))
                .collect();
        let mut blocks = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Entry::Keep(id) => blocks.extend(old.remove(&id)),
                Entry::New(block) => blocks.push(self.fresh(op, block)),
            }
        }
        if let Some(last) = blocks.last_mut() {
            Element::of_block(last).give_gap(&tail);
        }
        let now: HashSet<String> = blocks.iter().map(|block| block.id.clone()).collect();
        for id in old.into_keys().filter(|id| !now.contains(id)) {
            self.release_block(&id);
        }
        self.document.sections[section].blocks = blocks;
    }

    /// Frees the id of a removed block, unless the batch made it: those stay reserved.
    fn release_block(&mut self, id: &str) {
        if !self.is_created(ElementKind::Block, id) {
            self.block_ids.release(id);
        }
        self.written.remove(id);
    }

    /// Closes the fence that the source left open as soon as something follows it.
    fn close_open_fence(&mut self) -> Option<String> {
        let id = self.open_block.clone()?;
        let closing = self.find_block(&id).and_then(|(s, b)| {
            let last = s + 1 == self.document.sections.len()
                && b + 1 == self.document.sections[s].blocks.len();
            left_open(&self.document.sections[s].blocks[b].text).map(|line| (s, b, last, line))
        });
        let Some((s, b, last, line)) = closing else {
            self.open_block = None;
            return None;
        };
        if last {
            return None;
        }
        let block = &mut self.document.sections[s].blocks[b];
        block.text.push_str(self.line_end.as_str());
        block.text.push_str(&line);
        self.open_block = None;
        Some(id)
    }

    fn target(&self, kind: ElementKind, id: &str, text: &str) -> Target {
        let created_by = self.created.get(&(kind, id.to_owned())).copied();
        Target { kind, id: id.to_owned(), hash: text_hash(text), created_by }
    }

    fn section_target(&self, section: usize) -> Target {
        let section = &self.document.sections[section];
        self.target(ElementKind::Section, &section.id, &section.heading)
    }

    fn block_target(&self, section: usize, block: usize) -> Target {
        let block = &self.document.sections[section].blocks[block];
        self.target(ElementKind::Block, &block.id, &block.text)
    }

    fn trace(&mut self, op: u32, action: &Action) -> OpTrace {
        let mut targets = Vec::new();
        let mut needs: BTreeSet<u32> = BTreeSet::new();
        let mut rewrites = |editor: &Self, section: usize, block: usize| {
            let id = &editor.document.sections[section].blocks[block].id;
            needs.extend(editor.written.get(id));
            editor.block_target(section, block)
        };
        match action {
            Action::Insert { section, at, named, .. } => {
                targets.push(self.section_target(*section));
                if let Some(anchor) = at.checked_sub(1).filter(|_| *named) {
                    targets.push(self.block_target(*section, anchor));
                }
            }
            Action::Join { section, block, .. }
            | Action::Replace { section, block, .. }
            | Action::RemoveBlock { section, block } => {
                targets.push(self.section_target(*section));
                targets.push(rewrites(self, *section, *block));
            }
            Action::AddSection { anchor, .. } => {
                targets.extend(anchor.map(|anchor| self.section_target(anchor)));
            }
            Action::RemoveSection { section } | Action::ReplaceBlocks { section, .. } => {
                targets.push(self.section_target(*section));
                for block in 0..self.document.sections[*section].blocks.len() {
                    targets.push(rewrites(self, *section, block));
                }
            }
            Action::Rename { section, .. } => {
                targets.push(self.section_target(*section));
                needs.extend(self.renamed.get(&self.document.sections[*section].id));
            }
        }
        needs.extend(targets.iter().filter_map(|target| target.created_by));
        let all = self.with_their_needs(needs);
        self.requires.insert(op, all.clone());
        OpTrace {
            targets,
            requires: all.into_iter().collect(),
            writes: self.writes(action),
            removed: self.removed(action),
        }
    }

    fn writes(&self, action: &Action) -> Vec<Write> {
        let at = |section: usize, block: usize, kind| Write {
            block_id: self.document.sections[section].blocks[block].id.clone(),
            kind,
        };
        let new = |block: &NewBlock| Write { block_id: block.id.clone(), kind: WriteKind::Text };
        match action {
            Action::Insert { blocks, .. } | Action::AddSection { blocks, .. } => {
                blocks.iter().map(new).collect()
            }
            Action::Join { section, block, .. } => vec![at(*section, *block, WriteKind::Rows)],
            Action::Replace { section, block, more, .. } => {
                let first = at(*section, *block, WriteKind::Text);
                std::iter::once(first).chain(more.iter().map(new)).collect()
            }
            Action::ReplaceBlocks { entries, .. } => entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Keep(_) => None,
                    Entry::New(block) => Some(new(block)),
                })
                .collect(),
            Action::RemoveBlock { .. } | Action::RemoveSection { .. } | Action::Rename { .. } => {
                Vec::new()
            }
        }
    }

    fn removed(&self, action: &Action) -> Vec<String> {
        let texts = |section: &usize, gone: &dyn Fn(&Block) -> bool| {
            let blocks = self.document.sections[*section].blocks.iter();
            blocks.filter(|block| gone(block)).map(|block| block.text.clone()).collect()
        };
        match action {
            Action::RemoveBlock { section, block } => {
                vec![self.document.sections[*section].blocks[*block].text.clone()]
            }
            Action::RemoveSection { section } => texts(section, &|_| true),
            Action::ReplaceBlocks { section, entries } => {
                texts(section, &|block| !entries.contains(&Entry::Keep(block.id.clone())))
            }
            Action::Insert { .. }
            | Action::Join { .. }
            | Action::Replace { .. }
            | Action::AddSection { .. }
            | Action::Rename { .. } => Vec::new(),
        }
    }

    fn with_their_needs(&self, direct: BTreeSet<u32>) -> BTreeSet<u32> {
        let indirect: Vec<u32> =
            direct.iter().filter_map(|op| self.requires.get(op)).flatten().copied().collect();
        direct.into_iter().chain(indirect).collect()
    }
}

/// A heading or a block: a text and the gap behind it.
struct Element<'a> {
    text: &'a str,
    gap: &'a mut String,
}

impl<'a> Element<'a> {
    fn of_block(block: &'a mut Block) -> Self {
        Self { text: &block.text, gap: &mut block.gap }
    }

    fn of_heading(section: &'a mut Section) -> Option<Self> {
        (section.level > 0).then_some(Self { text: &section.raw, gap: &mut section.gap })
    }

    /// Gives the element another gap and returns its former one. After a text that ends in a lone
    /// `\r`, a gap that starts with `\n` would read as one CRLF and eat the text's last character;
    /// such a gap starts with CRLF instead.
    fn give_gap(self, gap: &str) -> String {
        let saved = self.text.ends_with('\r') && gap.starts_with('\n');
        let gap = if saved { format!("\r{gap}") } else { gap.to_owned() };
        std::mem::replace(self.gap, gap)
    }
}

fn last_element(section: &mut Section) -> Option<Element<'_>> {
    if section.blocks.is_empty() {
        Element::of_heading(section)
    } else {
        section.blocks.last_mut().map(Element::of_block)
    }
}

fn last_before(sections: &mut [Section]) -> Option<Element<'_>> {
    sections.iter_mut().rev().find_map(last_element)
}

fn heading_line(level: u8, heading: &str) -> String {
    format!("{} {heading}", "#".repeat(usize::from(level)))
}

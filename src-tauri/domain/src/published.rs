//! Publishing a document to a file that other programs and people may write too: what to do with the
//! file that is found there. The rule that outranks all others: a text that nobody has decided on is
//! never written over. Files are read and written elsewhere.

/// What is known when a file shall be written or looked at. Hashes are of whole files.
#[derive(Debug, Clone, Copy)]
pub struct FileSeen<'a> {
    /// The file as it stands; none if there is no file.
    pub found: Option<&'a [u8]>,
    /// The file as it was written last; none before the first time.
    pub last: Option<&'a [u8]>,
    /// The file as it would be written now.
    pub wanted: &'a [u8],
    /// An outside text that a person has approved or rejected.
    pub settled: Option<&'a [u8]>,
    /// The file says what some published version says, and was written by a run of the program that
    /// did not live to note it.
    pub ours: bool,
    /// The document in the file is ours, but somebody changed our lines of its header, and has not
    /// been told yet that they go.
    pub header: bool,
    /// The file holds nothing but white space.
    pub blank: bool,
    /// Whether there is something to write: a version that the file does not hold, or a person asked.
    pub due: bool,
}

/// What to do with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStep {
    /// Write it.
    Write,
    /// Note that it stands as wanted.
    Record,
    /// Leave it: nothing is due.
    Leave,
    /// Leave it, and offer its text for review: somebody else wrote it.
    Outside,
    /// Leave it, and tell that our lines of its header were changed: they are no text that could be
    /// offered for review.
    Header,
}

/// Decides about a file. A file that is gone is no outside text: it is written again when something
/// is due. A blank file found at the first time holds nothing that could be lost.
#[must_use]
pub fn plan_file(seen: &FileSeen<'_>) -> FileStep {
    let when_due = |step| if seen.due { step } else { FileStep::Leave };
    let Some(found) = seen.found else { return when_due(FileStep::Write) };
    if found == seen.wanted {
        return FileStep::Record;
    }
    let written = [seen.last, seen.settled].contains(&Some(found));
    if !written && seen.header {
        return FileStep::Header;
    }
    let known = written || seen.ours;
    if known || (seen.last.is_none() && seen.blank) {
        return when_due(FileStep::Write);
    }
    FileStep::Outside
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: FileSeen<'_> = FileSeen {
        found: None,
        last: None,
        wanted: b"v2",
        settled: None,
        ours: false,
        header: false,
        blank: false,
        due: true,
    };

    #[test]
    fn what_nobody_decided_on_is_never_written_over() {
        let options = [None, Some(&b"v1"[..]), Some(&b"v2"[..]), Some(&b"other"[..])];
        for pick in 0..64_usize {
            let (found, last) = (options[pick % 4], options[pick / 4 % 4]);
            let settled = options[pick / 16];
            for due in [true, false] {
                let seen = FileSeen { found, last, settled, due, ..NEW };
                let step = plan_file(&seen);
                let loses = found.is_some_and(|found| {
                    found != seen.wanted && Some(found) != last && Some(found) != settled
                });
                assert_eq!(step == FileStep::Outside, loses, "{seen:?}");
                assert!(!(step == FileStep::Write && loses), "{seen:?}");
                assert!(due || step != FileStep::Write, "{seen:?}");
            }
        }
    }

    #[test]
    fn a_gone_file_and_a_blank_one_are_written_when_something_is_due() {
        assert_eq!(plan_file(&NEW), FileStep::Write);
        assert_eq!(plan_file(&FileSeen { due: false, ..NEW }), FileStep::Leave);
        let blank = FileSeen { found: Some(b""), blank: true, ..NEW };
        assert_eq!(plan_file(&blank), FileStep::Write);
        let emptied = FileSeen { last: Some(b"v1"), ..blank };
        assert_eq!(plan_file(&emptied), FileStep::Outside, "somebody emptied it");
    }

    #[test]
    fn a_header_that_somebody_changed_is_not_written_over_unsaid() {
        let seen = FileSeen { found: Some(b"v1h"), ours: true, header: true, ..NEW };
        for due in [true, false] {
            assert_eq!(plan_file(&FileSeen { due, ..seen }), FileStep::Header);
        }
        let told = FileSeen { header: false, ..seen };
        assert_eq!(plan_file(&told), FileStep::Write);
        assert_eq!(plan_file(&FileSeen { last: Some(b"v1h"), ..seen }), FileStep::Write);
    }

    #[test]
    fn a_text_of_our_own_that_was_not_noted_is_no_outside_text() {
        let seen = FileSeen { found: Some(b"v1b"), last: Some(b"v1"), ours: true, ..NEW };
        assert_eq!(plan_file(&seen), FileStep::Write);
        let done = FileSeen { found: Some(b"v2"), last: Some(b"v1"), due: false, ..NEW };
        assert_eq!(plan_file(&done), FileStep::Record);
    }
}

//! Reads the schema number of a database without SQLite. A file of a newer program must keep its
//! bytes, and opening a file in WAL mode may recover and rewrite it; so the number is taken from the
//! file's first page, or from the newest copy of that page in the write-ahead log beside it.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Result};

/// First bytes of every SQLite file (sqlite.org/fileformat.html, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Where the header keeps `user_version`.
const USER_VERSION: usize = 60;

/// The schema number of the file, or none when there is no file or an empty one.
pub(crate) fn schema_number(db: &Path) -> Result<Option<u32>> {
    let mut file = match File::open(db) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    let mut head = [0u8; 100];
    file.read_exact(&mut head)
        .map_err(|_| Error::damaged("the file is shorter than a database header"))?;
    if &head[..16] != MAGIC {
        return Err(Error::damaged("the file does not begin like a database"));
    }
    let mut wal = db.as_os_str().to_owned();
    wal.push("-wal");
    Ok(Some(number_in_wal(Path::new(&wal))?.unwrap_or_else(|| be32(&head, USER_VERSION))))
}

/// The number in the newest committed copy of page 1 in the log, if there is one. Checksums are not
/// verified: a torn tail has no commit frame of the same salts, and the worst a wrong guess can do
/// is to refuse a file.
fn number_in_wal(wal: &Path) -> Result<Option<u32>> {
    let file = match File::open(wal) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let mut log = BufReader::new(file);
    let mut head = [0u8; 32];
    if log.read_exact(&mut head).is_err() {
        return Ok(None);
    }
    let (page_size, salts) = (i64::from(be32(&head, 8)), &head[16..24]);
    let (mut seen, mut committed) = (None, None);
    let mut frame = [0u8; 24];
    while log.read_exact(&mut frame).is_ok() {
        if frame[8..16] != *salts {
            break;
        }
        let mut skip = page_size;
        if be32(&frame, 0) == 1 {
            let mut page = [0u8; 100];
            if log.read_exact(&mut page).is_err() {
                break;
            }
            seen = Some(be32(&page, USER_VERSION));
            skip -= 100;
        }
        if be32(&frame, 4) != 0 {
            committed = seen;
        }
        if log.seek(SeekFrom::Current(skip)).is_err() {
            break;
        }
    }
    Ok(committed)
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

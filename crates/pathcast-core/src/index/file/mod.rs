//! An index in a file.
//!
//! Magic, version, length and checksum in front, so that a damaged, cut or newer file is told apart; then settings,
//! names, distinct expressions in normal form, and subscriptions in order. Loading registers the expressions again
//! without parsing them. Nothing in a file is trusted: every number is checked, nothing is executed. Writing takes
//! no memory worth naming: the payload leaves in pieces, and the front is written last.

mod image;
mod read;
mod write;

use std::fmt;
use std::io::{self, Cursor};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::kind::EngineKind;
use super::set::Index;
use crate::pattern::DecodeError;

const MAGIC: &[u8; 8] = b"PATHCAST";
/// Version 2 keeps expressions as written, and two limits more; version 3 keeps entities and their limit.
const VERSION: u32 = 3;
/// Stands before the local part of a `*:a`; no name starts with it.
const ANY_NAMESPACE: char = ':';
const HEADER: usize = 8 + 4 + 8 + 4;

/// Whose tables an image has: the version of Pathcast, and a number that changes with any table between two versions. A test
/// tells when it has to.
pub const LAYOUT: &str = concat!(env!("CARGO_PKG_VERSION"), "-1");

/// A file that is no index of this version.
#[derive(Debug)]
pub enum IndexFormatError {
    /// It cannot be read or written.
    Io(io::Error),
    /// It is something else.
    NotAnIndex,
    /// It is no image, perhaps an index file.
    NotAnImage,
    /// A newer version made it.
    Newer(u32),
    /// It was damaged or cut.
    Damaged(&'static str),
    /// An image of other tables than these.
    OtherTables(String),
    /// The caller no longer wants it.
    Cancelled,
}

impl fmt::Display for IndexFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the index file cannot be read or written: {error}"),
            Self::NotAnIndex => write!(f, "this file is not a Pathcast index"),
            Self::NotAnImage => write!(f, "this file is not an image of a Pathcast index"),
            Self::Newer(version) => write!(
                f,
                "this index file has format version {version}, but this Pathcast reads up to {VERSION}: upgrade \
                 Pathcast or save the index again with this version"
            ),
            Self::OtherTables(theirs) => write!(
                f,
                "this image was made by Pathcast {theirs}, and this is {LAYOUT}: open the index file that it was \
                 made from"
            ),
            Self::Cancelled => write!(f, "reading or writing the index was ended by the caller"),
            Self::Damaged(what) => {
                write!(f, "this index file is damaged ({what}): save it again from its source")
            }
        }
    }
}

impl std::error::Error for IndexFormatError {}

impl From<DecodeError> for IndexFormatError {
    fn from(_: DecodeError) -> Self {
        Self::Damaged("contents that make no sense")
    }
}

impl Index {
    /// Writes the index to a file: first beside it, then renamed, so that a crash leaves the old one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), IndexFormatError> {
        replace(path, |file| self.write(file))
    }

    /// Reads an index from a file; its engine must be one of these.
    ///
    /// # Errors
    /// The file cannot be read, or is no index of this version.
    pub fn load(path: &Path, engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        Self::from_bytes(&std::fs::read(path).map_err(IndexFormatError::Io)?, engines)
    }

    /// The index as the bytes of a file; nothing if the caller no longer wants them.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.write(Cursor::new(Vec::new())).map(Cursor::into_inner).unwrap_or_default()
    }
}

/// Writes a file: first beside it, then renamed, so that a crash leaves the old one.
fn replace(
    path: &Path,
    write: impl FnOnce(std::fs::File) -> Result<std::fs::File, IndexFormatError>,
) -> Result<(), IndexFormatError> {
    // Its own name for every call: threads may save to one path at once, and the last one wins whole.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{}.part", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)));
    let part = path.with_file_name(name);
    let written = std::fs::File::create(&part).map_err(IndexFormatError::Io).and_then(|file| {
        let renamed = |file: std::fs::File| file.sync_all().and_then(|()| std::fs::rename(&part, path));
        renamed(write(file)?).map_err(IndexFormatError::Io)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::{HEADER, MAGIC};
    use crate::index::{ENGINES, Id, Index, Settings};

    /// A file as somebody else might write it: checksum and length fit.
    fn changed(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
        let mut payload = bytes[HEADER..].to_vec();
        let at = payload.windows(from.len()).rposition(|window| window == from).unwrap();
        payload[at..at + from.len()].copy_from_slice(to);
        let front = [&bytes[MAGIC.len()..HEADER - 4], &crc32fast::hash(&payload).to_le_bytes()].concat();
        [&MAGIC[..], &front, &payload].concat()
    }

    #[test]
    fn an_expression_that_nobody_subscribes_to_is_left_out() {
        let mut index = Index::new(Settings::default());
        for (number, xpath) in [(77_001, "//a"), (77_002, "//b[c = 1]"), (77_003, "//b[c = 1]")] {
            index.add(Id::Number(number), xpath, false, &Vec::new()).unwrap();
        }
        let bytes = index.to_bytes();
        // The first id comes a second time, with the expression of the others: its own has nobody left.
        let twice = changed(&bytes, &77_003_i64.to_le_bytes(), &77_001_i64.to_le_bytes());
        let loaded = Index::from_bytes(&twice, &ENGINES).unwrap();
        assert_eq!((loaded.len(), loaded.stats().distinct), (2, 1));
        assert_eq!(Index::from_bytes(&loaded.to_bytes(), &ENGINES).unwrap().len(), 2);
    }
}

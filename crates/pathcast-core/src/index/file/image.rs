//! An image of an index: its tables as they are in memory.
//!
//! **Problem.** An index file says what was subscribed, and opening it registers every expression again: half a second for
//! 160,000 that are all different. **Idea.** An image has what came of it: tables that are copied and not made. It is opened in the
//! time in which it is read, and gives an ordinary index.
//!
//! **Invariants.** An image belongs to the Pathcast that made it ([`LAYOUT`]) and is no format: whoever keeps one keeps the
//! index file too, and opens that when the image does not fit. A checksum over all of it is compared before the first table
//! is read. It tells accidents and not intent, so an image is opened only where it comes from whom one trusts.
//!
//! **What has none**: an index with a schema, or with another engine than `auto`.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::super::expressions::Expressions;
use super::super::kind::{AUTO, EngineKind};
use super::super::set::Index;
use super::super::subscribers::Subscribers;
use super::read::decode_settings;
use super::write::encode_settings;
use super::{IndexFormatError, LAYOUT, VERSION, replace};
use crate::cancel;
use crate::engine::auto::Auto;
use crate::image::{CANCELLED, ImageError, Reader, Writer};
use crate::names::Names;

const MAGIC: &[u8; 8] = b"PATHCIMG";
/// Bytes for the layout in front of an image.
const ROOM: usize = 32;
const HEADER: usize = MAGIC.len() + ROOM + 8 + 4;
const _: () = assert!(LAYOUT.len() <= ROOM);

impl From<ImageError> for IndexFormatError {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Io(error) => Self::Io(error),
            ImageError::Damaged => Self::Damaged("tables that make no sense"),
            ImageError::Cancelled => Self::Cancelled,
        }
    }
}

impl Index {
    /// Writes an image of the index to a file, as [`Index::save`] does; false if such an index has none.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_image(&self, path: &Path) -> Result<bool, IndexFormatError> {
        let Some(engine) = self.imaged() else { return Ok(false) };
        let written = |file| self.write_image(engine, file);
        let why = |error: io::Error| match error.kind() {
            CANCELLED => IndexFormatError::Cancelled,
            _ => IndexFormatError::Io(error),
        };
        replace(path, |file| written(file).map_err(why)).map(|()| true)
    }

    /// An image of the index as bytes; `None` if such an index has none, or the caller no longer wants it.
    pub fn to_image(&self) -> Option<Vec<u8>> {
        let written = self.write_image(self.imaged()?, io::Cursor::new(Vec::new()));
        written.map(io::Cursor::into_inner).ok()
    }

    /// The engine, if the index can have an image.
    fn imaged(&self) -> Option<&Auto> {
        if self.schema().is_some() || self.settings().engine != AUTO {
            return None;
        }
        let engine: &dyn Any = self.engine();
        engine.downcast_ref()
    }

    fn write_image<W: Write + Seek>(&self, engine: &Auto, mut out: W) -> io::Result<W> {
        out.write_all(&[0; HEADER])?;
        let mut image = Writer::new(&mut out);
        let mut settings = Vec::new();
        encode_settings(self.settings(), &mut settings);
        image.bytes(&settings)?;
        self.names().store(&mut image)?;
        self.expressions.store(&mut image)?;
        self.subscribers.store(&mut image)?;
        engine.store(&mut image)?;
        let (length, checksum) = image.finish()?;
        out.seek(SeekFrom::Start(0))?;
        out.write_all(MAGIC)?;
        out.write_all(&padded())?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&checksum.to_le_bytes())?;
        Ok(out)
    }

    /// Opens an image; its engine must be one of these. Whoever made it is trusted.
    ///
    /// # Errors
    /// The file cannot be read, was damaged, or is no image of this layout.
    pub fn load_image(path: &Path, engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        Self::from_image(File::open(path).map_err(IndexFormatError::Io)?, engines)
    }

    /// Opens an image that lies in memory or in a file; see [`Index::load_image`].
    ///
    /// # Errors
    /// It cannot be read, was damaged, or is no image of this layout.
    pub fn from_image(mut input: impl Read + Seek, engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        let length = checked(&mut input)?;
        input.seek(SeekFrom::Start(HEADER as u64)).map_err(IndexFormatError::Io)?;
        let mut input = io::BufReader::new(input);
        Self::opened(&mut Reader::new(&mut input, length), engines)
    }

    fn opened(image: &mut Reader<'_>, engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        let bytes = image.bytes()?;
        let settings = decode_settings(&mut &*bytes, VERSION, engines)?;
        let names = Names::opened(image)?;
        let expressions = Expressions::opened(image, names.len())?;
        let subscribers = Subscribers::opened(image)?;
        let engine = Auto::opened(image)?;
        image.finish()?;
        let mut index = Self::with_engine(settings, None, Box::new(engine));
        index.reading.names = names;
        index.expressions = expressions;
        index.subscribers = subscribers;
        Ok(index)
    }
}

/// The layout as it stands in an image.
fn padded() -> [u8; ROOM] {
    let mut room = [0; ROOM];
    room[..LAYOUT.len()].copy_from_slice(LAYOUT.as_bytes());
    room
}

/// Reads all of an image once and compares its checksum; how many bytes of tables it has.
fn checked(input: &mut (impl Read + Seek)) -> Result<u64, IndexFormatError> {
    let mut front = Vec::with_capacity(HEADER);
    input.by_ref().take(HEADER as u64).read_to_end(&mut front).map_err(IndexFormatError::Io)?;
    let Some(rest) = front.strip_prefix(MAGIC) else { return Err(IndexFormatError::NotAnImage) };
    let cut = IndexFormatError::Damaged("it has the wrong length");
    let Some((layout, rest)) = rest.split_first_chunk::<ROOM>() else { return Err(cut) };
    if *layout != padded() {
        let theirs = layout.split(|&byte| byte == 0).next().unwrap_or_default();
        return Err(IndexFormatError::OtherTables(String::from_utf8_lossy(theirs).into_owned()));
    }
    let Some((length, rest)) = rest.split_first_chunk() else { return Err(cut) };
    let Ok(checksum) = rest.try_into().map(u32::from_le_bytes) else { return Err(cut) };
    let mut hasher = crc32fast::Hasher::new();
    let (mut piece, mut read) = (vec![0; 1 << 18], 0);
    loop {
        if cancel::requested() {
            return Err(IndexFormatError::Cancelled);
        }
        let bytes = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(IndexFormatError::Io(error)),
        };
        hasher.update(&piece[..bytes]);
        read += bytes as u64;
    }
    let length = u64::from_le_bytes(*length);
    if read != length {
        return Err(cut);
    }
    if hasher.finalize() == checksum {
        Ok(length)
    } else {
        Err(IndexFormatError::Damaged("its checksum does not fit"))
    }
}

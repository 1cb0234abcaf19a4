//! An index in a file.
//!
//! Magic, version, length and checksum in front, so that a damaged, cut or newer file is told apart; then settings,
//! names, distinct expressions in normal form, and subscriptions in order. Loading registers the expressions again
//! without parsing them. Nothing in a file is trusted: every number is checked, nothing is executed.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::expression::Expression;
use super::ids::Id;
use super::kind::EngineKind;
use super::normal_form::NormalForm;
use super::paths::filtered_condition;
use super::schema::SchemaOptions;
use super::set::Index;
use super::settings::Settings;
use crate::engine::AttributeFilters;
use crate::limits::Limits;
use crate::names::{NameId, NamespaceId};
use crate::pattern::{
    Condition, DecodeError, LinearPath, Written, decode_condition, decode_number, decode_text,
    encode_condition, encode_number, encode_text,
};
use crate::schema::{Graph, PruneLimits};

const MAGIC: &[u8; 8] = b"PATHCAST";
/// Version 2 keeps expressions as written, and two limits more.
const VERSION: u32 = 2;
/// Stands before the local part of a `*:a`; no name starts with it.
const ANY_NAMESPACE: char = ':';
const HEADER: usize = 8 + 4 + 8 + 4;

/// A file that is no index of this version.
#[derive(Debug)]
pub enum IndexFormatError {
    /// It cannot be read or written.
    Io(io::Error),
    /// It is something else.
    NotAnIndex,
    /// A newer version made it.
    Newer(u32),
    /// It was damaged or cut.
    Damaged(&'static str),
}

impl fmt::Display for IndexFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the index file cannot be read or written: {error}"),
            Self::NotAnIndex => write!(f, "this file is not a Pathcast index"),
            Self::Newer(version) => write!(
                f,
                "this index file has format version {version}, but this Pathcast reads up to {VERSION}: upgrade \
                 Pathcast or save the index again with this version"
            ),
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
        // Its own name for every call: threads may save to one path at once, and the last one wins whole.
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.{}.part", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)));
        let part = path.with_file_name(name);
        let written = (|| {
            let mut file = std::fs::File::create(&part)?;
            io::Write::write_all(&mut file, &self.to_bytes())?;
            file.sync_all()?;
            std::fs::rename(&part, path)
        })();
        written.map_err(|error| {
            let _ = std::fs::remove_file(&part);
            IndexFormatError::Io(error)
        })
    }

    /// Reads an index from a file; its engine must be one of these.
    ///
    /// # Errors
    /// The file cannot be read, or is no index of this version.
    pub fn load(path: &Path, engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        Self::from_bytes(&std::fs::read(path).map_err(IndexFormatError::Io)?, engines)
    }

    /// The index as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        encode_settings(self.settings(), &mut payload);
        encode_schema(self.schema(), &mut payload);
        self.encode_names(&mut payload);
        self.encode_expressions(&mut payload);
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(crc32fast::hash(&payload).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// The index in the bytes of a file; its engine must be one of these.
    ///
    /// # Errors
    /// They are no index of this version.
    pub fn from_bytes(bytes: &[u8], engines: &[EngineKind]) -> Result<Self, IndexFormatError> {
        let (version, mut payload) = open(bytes)?;
        let bytes = &mut payload;
        let settings = decode_settings(bytes, version, engines)?;
        let mut index = match decode_schema(bytes)? {
            Some(schema) => Self::with_schema(settings, schema),
            None => Self::new(settings),
        };
        index.decode_names(bytes)?;
        index.decode_expressions(bytes, version)?;
        if bytes.is_empty() { Ok(index) } else { Err(IndexFormatError::Damaged("bytes after the end")) }
    }

    fn encode_names(&self, out: &mut Vec<u8>) {
        encode_number(self.reading.names.len() as u64 - 1, out);
        for id in 1..self.reading.names.len() as u32 {
            let (uri, local) = self.reading.names.parts(NameId(id));
            encode_text(uri, out);
            if self.reading.names.is_local(NameId(id)) {
                encode_text(&format!("{ANY_NAMESPACE}{local}"), out);
            } else {
                encode_text(local, out);
            }
        }
    }

    fn decode_names(&mut self, bytes: &mut &[u8]) -> Result<(), IndexFormatError> {
        for expected in 1..=decode_number(bytes)? {
            let uri = decode_text(bytes)?;
            let local = decode_text(bytes)?;
            let (namespace, local) = match local.strip_prefix(ANY_NAMESPACE) {
                Some(local) if uri.is_empty() => (NamespaceId::ANY, local),
                _ => (self.reading.names.intern_namespace(uri), local),
            };
            if u64::from(self.reading.names.intern(namespace, local).0) != expected {
                return Err(IndexFormatError::Damaged("a name twice"));
            }
        }
        Ok(())
    }

    fn encode_expressions(&self, out: &mut Vec<u8>) {
        let mut numbers = vec![0_u64; self.expressions.iter().count()];
        encode_number(self.expressions.len() as u64, out);
        let live = self.expressions.iter().enumerate().filter(|(_, each)| !matches!(each, Expression::Free));
        for (number, (at, expression)) in live.enumerate() {
            numbers[at] = number as u64;
            match expression {
                Expression::Linear(path) => match filtered_condition(self.expressions.paths.key(*path)) {
                    None => {
                        out.push(0);
                        out.extend(self.expressions.paths.key(*path));
                    }
                    Some(condition) => {
                        out.push(1);
                        out.extend(condition);
                    }
                },
                Expression::Decided(condition) => {
                    out.push(1);
                    out.extend(condition);
                }
                Expression::Taken { condition, .. } | Expression::Twig { condition, .. } => {
                    out.push(1);
                    encode_condition(&self.expressions.twigs.arena.expand(*condition), out);
                }
                Expression::AnyOf(paths) => {
                    out.push(4);
                    encode_number(paths.len() as u64, out);
                    paths.iter().for_each(|&path| out.extend(self.expressions.paths.key(path)));
                }
                Expression::Constant(value) => out.push(2 + u8::from(*value)),
                Expression::Free => {}
            }
        }
        encode_number(self.len() as u64, out);
        let roster = self.subscribers.roster();
        for slot in roster.taken() {
            match roster.ids().get(slot) {
                Id::Number(number) => {
                    out.push(0);
                    out.extend(number.to_le_bytes());
                }
                Id::Text(text) => {
                    out.push(1);
                    encode_text(&text, out);
                }
            }
            encode_number(numbers[roster.expression(slot) as usize], out);
            // Nothing if it is not known.
            let written = self.subscribers.sources.bytes(roster.source(slot)).unwrap_or_default();
            encode_number(written.len() as u64, out);
            out.extend(written);
        }
    }

    fn decode_expressions(&mut self, bytes: &mut &[u8], version: u32) -> Result<(), IndexFormatError> {
        let names = self.reading.names.len();
        let count = decode_number(bytes)?;
        let mut forms = Vec::new();
        for _ in 0..count {
            forms.push(NormalForm::new(match take::<1>(bytes)? {
                [0] => LinearPath::decode(bytes, names)?.to_condition(),
                [1] => decode_condition(bytes, names)?,
                [4] => {
                    let mut any = Vec::new();
                    for _ in 0..decode_number(bytes)? {
                        any.push(LinearPath::decode(bytes, names)?.to_condition());
                    }
                    Condition::Or(any)
                }
                [2] => Condition::False,
                [3] => Condition::True,
                _ => return Err(IndexFormatError::Damaged("an unknown kind of expression")),
            }));
        }
        for _ in 0..decode_number(bytes)? {
            let id = match take::<1>(bytes)? {
                [0] => Id::Number(i64::from_le_bytes(take(bytes)?)),
                [1] => Id::Text(decode_text(bytes)?.into()),
                _ => return Err(IndexFormatError::Damaged("an unknown kind of id")),
            };
            let number = usize::try_from(decode_number(bytes)?).unwrap_or(usize::MAX);
            let form = forms.get(number).ok_or(IndexFormatError::Damaged("no such expression"))?;
            let written = if version < 2 { &[] } else { decode_bytes(bytes)? };
            if !written.is_empty() && Written::from_bytes(written).is_err() {
                return Err(IndexFormatError::Damaged("an expression that makes no sense"));
            }
            self.subscribe(&id, form, (!written.is_empty()).then_some(written));
        }
        Ok(())
    }
}

/// Checks the front of a file; its version and what follows.
fn open(bytes: &[u8]) -> Result<(u32, &[u8]), IndexFormatError> {
    let mut rest = bytes;
    if take::<8>(&mut rest).ok().as_ref() != Some(MAGIC) {
        return Err(IndexFormatError::NotAnIndex);
    }
    let version = u32::from_le_bytes(take(&mut rest)?);
    if version > VERSION {
        return Err(IndexFormatError::Newer(version));
    }
    let length = u64::from_le_bytes(take(&mut rest)?);
    let checksum = u32::from_le_bytes(take(&mut rest)?);
    if version == 0 || length != rest.len() as u64 {
        return Err(IndexFormatError::Damaged("it has the wrong length"));
    }
    if checksum != crc32fast::hash(rest) {
        return Err(IndexFormatError::Damaged("its checksum does not fit"));
    }
    Ok((version, rest))
}

/// Takes bytes with their length in front.
fn decode_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], IndexFormatError> {
    let length = usize::try_from(decode_number(bytes)?).unwrap_or(usize::MAX);
    let (taken, rest) = bytes.split_at_checked(length).ok_or(IndexFormatError::Damaged("it is cut off"))?;
    *bytes = rest;
    Ok(taken)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], IndexFormatError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(IndexFormatError::Damaged("it is cut off"))?;
    *bytes = rest;
    Ok(*taken)
}

fn encode_settings(settings: &Settings, out: &mut Vec<u8>) {
    let Limits {
        depth,
        attributes,
        name_bytes,
        document_bytes,
        expression_bytes,
        steps,
        nesting,
        expansion,
        evaluation_steps,
        work,
    } = settings.limits;
    let sizes = [depth, attributes, name_bytes, expression_bytes, steps, nesting, expansion];
    for size in sizes {
        encode_number(size as u64, out);
    }
    for steps in [document_bytes, evaluation_steps, work] {
        encode_number(steps, out);
    }
    encode_text(settings.engine.name, out);
    encode_number(settings.cache_bytes.map_or(u64::MAX, |bytes| bytes as u64), out);
    let postponed = settings.attribute_filters == AttributeFilters::Postponed;
    out.push(u8::from(settings.ordered) | u8::from(postponed) << 1);
    out.push(u8::from(settings.ignore_namespaces));
    encode_number(settings.namespaces.len() as u64, out);
    for (prefix, uri) in &settings.namespaces {
        encode_text(prefix, out);
        encode_text(uri, out);
    }
}

fn decode_settings(
    bytes: &mut &[u8],
    version: u32,
    engines: &[EngineKind],
) -> Result<Settings, IndexFormatError> {
    let mut size = || decode_number(bytes).map(|size| size as usize);
    let mut limits = Limits {
        depth: size()?,
        attributes: size()?,
        name_bytes: size()?,
        expression_bytes: size()?,
        steps: size()?,
        nesting: size()?,
        expansion: size()?,
        document_bytes: decode_number(bytes)?,
        ..Limits::default()
    };
    if version > 1 {
        limits.evaluation_steps = decode_number(bytes)?;
        limits.work = decode_number(bytes)?;
    }
    let engine = EngineKind::find(decode_text(bytes)?, engines)
        .ok_or(IndexFormatError::Damaged("an engine that this Pathcast does not have"))?;
    let cache_bytes =
        Some(decode_number(bytes)?).filter(|&bytes| bytes < u64::MAX).map(|bytes| bytes as usize);
    let [flags] = take::<1>(bytes)?;
    if flags > 3 {
        return Err(IndexFormatError::Damaged("an unknown setting"));
    }
    let ordered = flags & 1 > 0;
    let attribute_filters =
        if flags & 2 > 0 { AttributeFilters::Postponed } else { AttributeFilters::Inline };
    let ignore_namespaces = take::<1>(bytes)? == [1];
    let mut namespaces = Vec::new();
    for _ in 0..decode_number(bytes)? {
        namespaces.push((decode_text(bytes)?.into(), decode_text(bytes)?.into()));
    }
    Ok(Settings { engine, ordered, cache_bytes, attribute_filters, limits, namespaces, ignore_namespaces })
}

fn encode_schema(schema: Option<&SchemaOptions>, out: &mut Vec<u8>) {
    let Some(schema) = schema else {
        out.push(0);
        return;
    };
    out.push(1 | u8::from(schema.validate) << 1 | u8::from(schema.refuse_impossible) << 2);
    match &schema.prune {
        None => out.push(0),
        Some(limits) => {
            let PruneLimits { max_substitutes, max_length, max_results, singleton, expand_leading } = *limits;
            out.push(1 | u8::from(singleton) << 1 | u8::from(expand_leading) << 2);
            for size in [max_substitutes, max_length, max_results] {
                encode_number(size as u64, out);
            }
        }
    }
    schema.graph.encode(out);
}

fn decode_schema(bytes: &mut &[u8]) -> Result<Option<SchemaOptions>, IndexFormatError> {
    let [flags] = take::<1>(bytes)?;
    if flags == 0 {
        return Ok(None);
    }
    let [pruning] = take::<1>(bytes)?;
    if flags & 1 == 0 || flags > 7 || pruning & 1 != u8::from(pruning > 0) || pruning > 7 {
        return Err(IndexFormatError::Damaged("an unknown setting of the schema"));
    }
    let prune = if pruning == 0 {
        None
    } else {
        let mut size = || decode_number(bytes).map(|size| size as usize);
        Some(PruneLimits {
            max_substitutes: size()?,
            max_length: size()?,
            max_results: size()?,
            singleton: pruning & 2 > 0,
            expand_leading: pruning & 4 > 0,
        })
    };
    Ok(Some(SchemaOptions {
        graph: Arc::new(Graph::decode(bytes)?),
        prune,
        validate: flags & 2 > 0,
        refuse_impossible: flags & 4 > 0,
    }))
}

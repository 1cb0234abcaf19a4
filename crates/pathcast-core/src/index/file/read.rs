//! Reading an index; nothing in the bytes is trusted.

use std::sync::Arc;

use super::super::ids::Id;
use super::super::kind::EngineKind;
use super::super::normal_form::NormalForm;
use super::super::schema::{SchemaOptions, Validate};
use super::super::set::Index;
use super::super::settings::Settings;
use super::{ANY_NAMESPACE, IndexFormatError, MAGIC, VERSION};
use crate::cancel::{self, Pulse};
use crate::engine::AttributeFilters;
use crate::limits::{HIGHEST_NESTING, HIGHEST_STEPS, Limits};
use crate::names::NamespaceId;
use crate::pattern::{Condition, LinearPath, Written, decode_condition, decode_number, decode_text};
use crate::schema::{Graph, PruneLimits};

impl Index {
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
        let decoded = index.decode_names(bytes).and_then(|()| index.decode_expressions(bytes, version));
        if let Err(error) = decoded {
            cancel::discard(index);
            return Err(error);
        }
        if bytes.is_empty() { Ok(index) } else { Err(IndexFormatError::Damaged("bytes after the end")) }
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

    fn decode_expressions(&mut self, bytes: &mut &[u8], version: u32) -> Result<(), IndexFormatError> {
        let names = self.reading.names.len();
        let count = decode_number(bytes)?;
        // Each is made known at once and forgotten: conditions of all take more memory than the index.
        let mut expressions = Vec::new();
        let mut pulse = Pulse::default();
        for _ in 0..count {
            if pulse.requested() {
                return Err(IndexFormatError::Cancelled);
            }
            let form = NormalForm::new(match take::<1>(bytes)? {
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
            });
            expressions.push(self.intern(&form));
        }
        for _ in 0..decode_number(bytes)? {
            if pulse.requested() {
                return Err(IndexFormatError::Cancelled);
            }
            let id = match take::<1>(bytes)? {
                [0] => Id::Number(i64::from_le_bytes(take(bytes)?)),
                [1] => Id::Text(decode_text(bytes)?.into()),
                _ => return Err(IndexFormatError::Damaged("an unknown kind of id")),
            };
            let number = usize::try_from(decode_number(bytes)?).unwrap_or(usize::MAX);
            let expression =
                *expressions.get(number).ok_or(IndexFormatError::Damaged("no such expression"))?;
            let written = if version < 2 { &[] } else { decode_bytes(bytes)? };
            if !written.is_empty() && Written::from_bytes(written).is_err() {
                return Err(IndexFormatError::Damaged("an expression that makes no sense"));
            }
            self.subscribers.join(&id, expression, (!written.is_empty()).then_some(written));
        }
        // Those that nobody subscribes to; there are none unless somebody else wrote the file.
        expressions.sort_unstable();
        expressions.dedup();
        expressions.into_iter().for_each(|expression| self.release(expression));
        self.give_back();
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

pub(super) fn decode_settings(
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
    let mut entities = Vec::new();
    if version > 2 {
        limits.entity_expansion = decode_number(bytes)?;
        for _ in 0..decode_number(bytes)? {
            entities.push((decode_text(bytes)?, decode_text(bytes)?));
        }
    }
    let entities = entities.into_iter().collect();
    if limits.steps > HIGHEST_STEPS || limits.nesting > HIGHEST_NESTING {
        return Err(IndexFormatError::Damaged("a limit beyond the highest"));
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
    Ok(Settings {
        engine,
        ordered,
        cache_bytes,
        attribute_filters,
        limits,
        namespaces,
        ignore_namespaces,
        entities,
    })
}

fn decode_schema(bytes: &mut &[u8]) -> Result<Option<SchemaOptions>, IndexFormatError> {
    let [flags] = take::<1>(bytes)?;
    if flags == 0 {
        return Ok(None);
    }
    let [pruning] = take::<1>(bytes)?;
    if flags & 1 == 0 || flags > 31 || pruning & 1 != u8::from(pruning > 0) || pruning > 15 {
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
            single_parent: pruning & 8 > 0,
            expand_leading: pruning & 4 > 0,
        })
    };
    Ok(Some(SchemaOptions {
        graph: Arc::new(Graph::decode(bytes)?),
        prune,
        validate: match flags & 10 {
            0 => Validate::No,
            2 => Validate::Yes,
            _ => Validate::WhenPruned { pruned: flags & 16 > 0 },
        },
        refuse_impossible: flags & 4 > 0,
    }))
}

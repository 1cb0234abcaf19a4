//! Writing an index, piece by piece.

use std::io::{self, Seek, SeekFrom, Write};

use super::super::expression::{Expression, Kind};
use super::super::ids::Id;
use super::super::paths::filtered_condition;
use super::super::schema::{SchemaOptions, Validate};
use super::super::set::Index;
use super::super::settings::Settings;
use super::{ANY_NAMESPACE, HEADER, IndexFormatError, MAGIC, VERSION};
use crate::cancel::Pulse;
use crate::engine::AttributeFilters;
use crate::limits::Limits;
use crate::names::NameId;
use crate::pattern::{encode_condition, encode_number, encode_text};
use crate::schema::PruneLimits;

/// A piece leaves when it has this many bytes.
const PIECE: usize = 1 << 16;

/// What follows the front of a file; length and checksum are known only at the end.
struct Payload<W> {
    out: W,
    piece: Vec<u8>,
    length: u64,
    checksum: crc32fast::Hasher,
    pulse: Pulse,
}

impl<W: Write + Seek> Payload<W> {
    fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; HEADER])?;
        Ok(Self {
            out,
            piece: Vec::new(),
            length: 0,
            checksum: crc32fast::Hasher::new(),
            pulse: Pulse::default(),
        })
    }

    /// Where the next item goes.
    fn next(&mut self) -> Result<&mut Vec<u8>, IndexFormatError> {
        if self.pulse.requested() {
            return Err(IndexFormatError::Cancelled);
        }
        if self.piece.len() >= PIECE {
            self.leave().map_err(IndexFormatError::Io)?;
        }
        Ok(&mut self.piece)
    }

    fn leave(&mut self) -> io::Result<()> {
        self.checksum.update(&self.piece);
        self.length += self.piece.len() as u64;
        self.out.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.leave()?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(MAGIC)?;
        self.out.write_all(&VERSION.to_le_bytes())?;
        self.out.write_all(&self.length.to_le_bytes())?;
        self.out.write_all(&self.checksum.finalize().to_le_bytes())?;
        Ok(self.out)
    }
}

impl Index {
    /// Writes everything; gives back what it wrote to.
    pub(super) fn write<W: Write + Seek>(&self, out: W) -> Result<W, IndexFormatError> {
        let mut file = Payload::new(out).map_err(IndexFormatError::Io)?;
        encode_settings(self.settings(), &mut file.piece);
        encode_schema(self.schema(), &mut file.piece);
        self.encode_names(&mut file)?;
        self.encode_expressions(&mut file)?;
        file.finish().map_err(IndexFormatError::Io)
    }

    fn encode_names(&self, file: &mut Payload<impl Write + Seek>) -> Result<(), IndexFormatError> {
        encode_number(self.reading.names.len() as u64 - 1, &mut file.piece);
        for id in 1..self.reading.names.len() as u32 {
            let (uri, local) = self.reading.names.parts(NameId(id));
            encode_text(uri, &mut file.piece);
            if self.reading.names.is_local(NameId(id)) {
                encode_text(&format!("{ANY_NAMESPACE}{local}"), &mut file.piece);
            } else {
                encode_text(local, &mut file.piece);
            }
            file.next()?;
        }
        Ok(())
    }

    fn encode_expressions(&self, file: &mut Payload<impl Write + Seek>) -> Result<(), IndexFormatError> {
        let mut numbers = vec![0_u64; self.expressions.iter().count()];
        encode_number(self.expressions.len() as u64, &mut file.piece);
        let live = self.expressions.iter().enumerate().filter(|(_, each)| !matches!(each, Kind::Free));
        for (number, (at, expression)) in live.enumerate() {
            numbers[at] = number as u64;
            let out = file.next()?;
            match expression {
                Kind::Linear(path) => match filtered_condition(self.expressions.paths.key(path)) {
                    None => {
                        out.push(0);
                        out.extend(self.expressions.paths.key(path));
                    }
                    Some(condition) => {
                        out.push(1);
                        out.extend(condition);
                    }
                },
                Kind::Decided(key) => {
                    out.push(1);
                    out.extend(self.expressions.decided_bytes(key));
                }
                Kind::Other(Expression::Taken { condition, .. } | Expression::Twig { condition, .. }) => {
                    out.push(1);
                    encode_condition(&self.expressions.twigs.arena.expand(*condition), out);
                }
                Kind::Other(Expression::AnyOf(paths)) => {
                    out.push(4);
                    encode_number(paths.len() as u64, out);
                    paths.iter().for_each(|&path| out.extend(self.expressions.paths.key(path)));
                }
                Kind::Other(Expression::Constant(value)) => out.push(2 + u8::from(*value)),
                Kind::Free => {}
            }
        }
        encode_number(self.len() as u64, &mut file.piece);
        let roster = self.subscribers.roster();
        for slot in roster.taken() {
            let out = file.next()?;
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
        Ok(())
    }
}

pub(super) fn encode_settings(settings: &Settings, out: &mut Vec<u8>) {
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
        entity_expansion,
    } = settings.limits;
    let sizes = [depth, attributes, name_bytes, expression_bytes, steps, nesting, expansion];
    for size in sizes {
        encode_number(size as u64, out);
    }
    for amount in [document_bytes, evaluation_steps, work, entity_expansion] {
        encode_number(amount, out);
    }
    encode_number(settings.entities.len() as u64, out);
    for (name, text) in settings.entities.iter() {
        encode_text(name, out);
        encode_text(text, out);
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

fn encode_schema(schema: Option<&SchemaOptions>, out: &mut Vec<u8>) {
    let Some(schema) = schema else {
        out.push(0);
        return;
    };
    let validate = match schema.validate {
        Validate::No => 0,
        Validate::Yes => 2,
        Validate::WhenPruned { pruned } => 8 | u8::from(pruned) << 4,
    };
    out.push(1 | validate | u8::from(schema.refuse_impossible) << 2);
    match &schema.prune {
        None => out.push(0),
        Some(limits) => {
            let PruneLimits {
                max_substitutes,
                max_length,
                max_results,
                singleton,
                single_parent,
                expand_leading,
            } = *limits;
            let rules = [singleton, expand_leading, single_parent];
            out.push(rules.iter().zip(1..).fold(1, |bits, (&rule, at)| bits | u8::from(rule) << at));
            for size in [max_substitutes, max_length, max_results] {
                encode_number(size as u64, out);
            }
        }
    }
    schema.graph.encode(out);
}

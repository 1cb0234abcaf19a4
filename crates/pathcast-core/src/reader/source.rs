//! A document that arrives piece by piece, as clean UTF-8 for the tokeniser.
//!
//! Pieces are collected to a decent size first, so a source that gives one byte at a time costs no more than one that
//! gives all; nothing is lost by it, because a document is only worth something at its end. Trouble is reported behind
//! all the clean text before it, so an error that the tokeniser finds earlier in the document is reported first.
//!
//! Memory: two buffers of one piece.

use std::io::{self, Read};
use std::ops::Range;

use super::decode::{Carried, decode};
use super::encoding::{Detected, LONGEST_DECLARATION, detect};
use super::error::{DocumentErrorKind, Fault};

/// Sizes that tests make small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes read and decoded at a time; at least 4, so that any character fits.
    pub(super) piece: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { piece: 64 << 10 }
    }
}

/// What a source keeps for the next document.
#[derive(Default)]
pub(super) struct Buffers {
    raw: Vec<u8>,
    clean: Vec<u8>,
}

/// See the module's description.
pub(super) struct Source<'b, R> {
    inner: R,
    buffers: &'b mut Buffers,
    sizes: Sizes,
    /// What the first bytes say; `None` until they are here.
    detected: Option<Detected>,
    /// Bytes that may still be read.
    allowance: u64,
    limit: u64,
    /// Read but not decoded, in `raw`.
    pending: Range<usize>,
    /// Clean but not consumed, in `clean` or in `raw`.
    ready: Range<usize>,
    ready_in_raw: bool,
    carried: Carried,
    /// Whether the inner source has ended.
    ended: bool,
    /// What is wrong behind the bytes read, and behind those decoded.
    unread: Option<Fault>,
    fault: Option<Fault>,
    /// Whether any clean byte was consumed.
    begun: bool,
}

impl<'b, R: Read> Source<'b, R> {
    /// `known` is given when the encoding is not to be looked for.
    pub(super) fn new(
        inner: R,
        buffers: &'b mut Buffers,
        sizes: Sizes,
        limit: u64,
        known: Option<Detected>,
    ) -> Self {
        Self {
            inner,
            buffers,
            sizes,
            detected: known,
            allowance: limit,
            limit,
            pending: 0..0,
            ready: 0..0,
            ready_in_raw: false,
            carried: Carried::default(),
            ended: false,
            unread: None,
            fault: None,
            begun: false,
        }
    }

    /// What the first bytes say; looks at them if that has not happened.
    pub(super) fn detect(&mut self) -> Result<Detected, Fault> {
        if let Some(detected) = self.detected {
            return Ok(detected);
        }
        self.read_more(LONGEST_DECLARATION);
        let head = &self.buffers.raw[self.pending.clone()];
        if head.is_empty()
            && let Some(fault) = self.unread.take()
        {
            return Err(fault);
        }
        let detected = detect(head)?;
        self.pending.start += detected.mark;
        self.detected = Some(detected);
        Ok(detected)
    }

    /// Appends clean bytes, whole characters, until so many are there; whether there may be more.
    pub(super) fn read_into(&mut self, out: &mut Vec<u8>, wanted: usize) -> bool {
        while out.len() < wanted {
            if let Err(fault) = self.refill() {
                self.fault = Some(fault);
                return false;
            }
            if self.ready.is_empty() {
                return false;
            }
            let buffer = if self.ready_in_raw { &self.buffers.raw } else { &self.buffers.clean };
            out.extend_from_slice(&buffer[self.ready.clone()]);
            self.begun = true;
            self.ready = 0..0;
            if self.fault.is_some() {
                return false;
            }
        }
        true
    }

    /// Why the source broke off, if it did.
    pub(super) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Reads until `wanted` bytes are pending, or no more can be had.
    fn read_more(&mut self, wanted: usize) {
        let raw = &mut self.buffers.raw;
        raw.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        if raw.len() < wanted {
            raw.resize(wanted, 0);
        }
        while self.pending.end < wanted && !self.ended {
            let room = wanted - self.pending.end;
            // one byte more than allowed tells a document at the limit from one beyond it
            let most = usize::try_from(self.allowance.saturating_add(1)).map_or(room, |most| most.min(room));
            match self.inner.read(&mut raw[self.pending.end..self.pending.end + most]) {
                Ok(0) => self.ended = true,
                Ok(count) if count as u64 > self.allowance => {
                    self.pending.end += self.allowance as usize;
                    self.ended = true;
                    let reason = format!("the document is longer than the limit of {} bytes", self.limit);
                    self.unread = Some(Fault::limit(0, reason));
                }
                Ok(count) => {
                    self.pending.end += count;
                    self.allowance -= count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    let reason = format!("the document could not be read: {error}");
                    self.unread = Some(Fault::new(DocumentErrorKind::Io, 0, reason));
                }
            }
        }
    }

    /// Makes clean bytes ready; none are at the end of the document.
    fn refill(&mut self) -> Result<(), Fault> {
        if crate::cancel::requested() {
            return Err(Fault::cancelled());
        }
        let encoding = self.detect()?.encoding;
        while self.ready.is_empty() && self.fault.is_none() {
            let piece = self.sizes.piece.max(4);
            if self.pending.len() < piece && !self.ended {
                self.read_more(piece);
            }
            let to = self.pending.end.min(self.pending.start + piece);
            let last = self.ended && to == self.pending.end;
            if self.pending.is_empty() {
                self.fault = self.unread.take().or_else(|| self.carried.finish());
                return Ok(());
            }
            let Buffers { raw, clean } = &mut *self.buffers;
            clean.clear();
            let start = self.pending.start;
            let cut_off = last && self.unread.is_some();
            let decoded = decode(encoding, &raw[start..to], last && !cut_off, &mut self.carried, clean);
            self.ready_in_raw = decoded.in_place;
            self.ready = if decoded.in_place { start..start + decoded.consumed } else { 0..clean.len() };
            self.pending.start += decoded.consumed;
            self.fault = decoded.fault;
            if cut_off && decoded.consumed < to - start {
                self.pending.start = to; // half a character, cut off by the limit or by an error of the source
            }
            let first = if decoded.in_place { &raw[self.ready.clone()] } else { &clean[..] };
            if !self.begun && first.starts_with("\u{FEFF}".as_bytes()) {
                self.ready.end = self.ready.start;
                self.fault = Some(Fault::malformed(0, "a document may not start with two byte order marks"));
            }
        }
        Ok(())
    }
}

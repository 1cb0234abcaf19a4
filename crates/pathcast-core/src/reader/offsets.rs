//! From a place in clean text back to the bytes that were given.

use super::decode::{Carried, decode};
use super::encoding::Detected;
use crate::cancel::Pulse;

/// Where the characters of clean text come from.
#[derive(Debug)]
pub enum Offsets {
    /// The bytes are the text, behind a byte order mark of this length.
    Same(usize),
    /// By character whose place is not that of the one before, moved on: where it is in the text and in the bytes.
    Moved(Vec<(usize, usize)>),
}

impl Offsets {
    /// The place in the bytes of a place in the text.
    pub fn given(&self, clean: usize) -> usize {
        match self {
            Self::Same(mark) => clean + mark,
            Self::Moved(places) => {
                let after = places.partition_point(|&(text, _)| text <= clean);
                places.get(after.wrapping_sub(1)).map_or(clean, |&(text, bytes)| bytes + (clean - text))
            }
        }
    }

    /// The clean text of some bytes, a character at a time, and where each comes from; `None` if anything is wrong with them,
    /// or nobody waits any more.
    pub(super) fn decoded(bytes: &[u8], detected: Detected) -> Option<(String, Self)> {
        /// No encoding takes more bytes for a character.
        const LONGEST: usize = 8;
        let (mut clean, mut places) = (Vec::with_capacity(bytes.len()), Vec::new());
        let mut carried = Carried::default();
        let mut at = detected.mark;
        // Where a character starts that the decoder has only begun.
        let mut begun = None;
        let mut pulse = Pulse::default();
        while at < bytes.len() {
            if pulse.requested() {
                return None;
            }
            let before = clean.len();
            let mut taken = 0;
            for length in 1..=LONGEST.min(bytes.len() - at) {
                let (piece, last) = (&bytes[at..at + length], at + length == bytes.len());
                let decoded = decode(detected.encoding, piece, last, &mut carried, &mut clean);
                if decoded.in_place {
                    clean.extend_from_slice(&piece[..decoded.consumed]);
                }
                // A decoder that was told of bytes that are wrong would go on behind them.
                if decoded.fault.is_some() {
                    return None;
                }
                taken = decoded.consumed;
                if taken > 0 {
                    break;
                }
            }
            if taken == 0 {
                return None;
            }
            let start = begun.take().unwrap_or(at);
            let moved = |&(text, given): &(usize, usize)| given + (before - text) != start;
            if clean.len() > before {
                if places.last().is_none_or(moved) {
                    places.push((before, start));
                }
            } else if !bytes[at..at + taken].contains(&b'\n') {
                begun = Some(start);
            }
            at += taken;
        }
        if carried.finish().is_some() {
            return None;
        }
        // What ends the text ends the bytes.
        places.push((clean.len(), bytes.len()));
        Some((String::from_utf8(clean).ok()?, Self::Moved(places)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::encoding::{Encoding, detect};
    use super::*;

    #[test]
    fn places_lead_back_to_the_bytes() {
        let text = "<a>\r\nä😀</a>\r";
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let bytes = [&[0xFE, 0xFF], utf16.as_slice()].concat();
        let detected = detect(&bytes).expect("UTF-16");
        assert_eq!(detected.encoding, Encoding::Utf16Be);
        let (clean, offsets) = Offsets::decoded(&bytes, detected).expect("well encoded");
        assert_eq!(clean, "<a>\nä😀</a>\n");
        for (clean, given) in [(0, 2), (3, 8), (4, 12), (6, 14), (10, 18), (14, 26), (15, 28)] {
            assert_eq!(offsets.given(clean), given, "{clean}");
        }
    }
}

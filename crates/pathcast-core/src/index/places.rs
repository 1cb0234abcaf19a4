//! Places of subscriptions in the order of registration: a list of few, a bit for each of many.

use super::chunks::CHUNK;

/// The place of a subscription in the order of registration.
pub(super) type Slot = u32;

/// Places in order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// Sorted.
    Few(Vec<Slot>),
    /// A bit for each place.
    Many(Vec<u64>),
}

impl Places {
    /// Places given in any order, all below a bound. Of many, a bit for each is set: 5,000 of 150,000 are in order four
    /// times sooner than by sorting.
    pub(super) fn of(mut slots: Vec<Slot>, bound: usize) -> Self {
        // Who subscribes to what nobody else does comes in the order of the expressions.
        if slots.is_sorted_by(|one, next| one < next) {
            return Self::Few(slots);
        }
        let words = bound.div_ceil(64);
        if slots.len() < 64 || 8 * slots.len() < words {
            slots.sort_unstable();
            slots.dedup();
            return Self::Few(slots);
        }
        let mut bits = vec![0_u64; words];
        for slot in slots {
            bits[slot as usize / 64] |= 1 << (slot % 64);
        }
        Self::Many(bits)
    }

    /// All of them, as a list.
    pub(super) fn into_vec(self) -> Vec<Slot> {
        if let Self::Few(slots) = self {
            return slots;
        }
        let mut slots = Vec::new();
        self.list(&mut slots);
        slots
    }

    /// Appends all of them.
    pub(super) fn list(&self, slots: &mut Vec<Slot>) {
        match self {
            Self::Few(few) => slots.extend_from_slice(few),
            Self::Many(bits) => {
                let mut found = [0; ROOM];
                for (first, words) in (0..).step_by(CHUNK).zip(bits.chunks(WORDS)) {
                    slots.extend(positions(words, &mut found).iter().map(|&at| first + Slot::from(at)));
                }
            }
        }
    }
}

/// Words whose bits are the places of a chunk.
pub(super) const WORDS: usize = CHUNK / 64;
/// How many [`positions`] may write.
pub(super) const ROOM: usize = CHUNK + 8;

/// By byte: where its bits are set, from the lowest on, and how many are.
static SET: [([u16; 8], u8); 256] = {
    let mut table = [([0; 8], 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                let (places, number) = &mut table[byte];
                places[*number as usize] = bit;
                *number += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Where the bits of a chunk's words are set, from the lowest on. Hardly a branch depends on a bit: a processor guesses
/// half of such branches wrong, which costs more than to look twice.
#[inline]
pub(super) fn positions<'f>(words: &[u64], found: &'f mut [u16; ROOM]) -> &'f [u16] {
    let empty = words.iter().filter(|&&word| word == 0).count();
    let end = if 4 * empty > words.len() { scattered(words, found) } else { dense(words, found) };
    &found[..end]
}

/// Of words that mostly have two bits at most: two are taken in any case.
fn scattered(words: &[u64], found: &mut [u16; ROOM]) -> usize {
    let mut end = 0;
    for (first, &word) in (0..).step_by(64).zip(words) {
        let mut rest = word;
        for _ in 0..2 {
            found[end] = first + rest.trailing_zeros() as u16;
            end += usize::from(rest != 0);
            rest &= rest.wrapping_sub(1);
        }
        while rest != 0 {
            found[end] = first + rest.trailing_zeros() as u16;
            end += 1;
            rest &= rest - 1;
        }
    }
    end
}

/// Those of a byte come from a table all at once.
fn dense(words: &[u64], found: &mut [u16; ROOM]) -> usize {
    let mut end = 0;
    for (first, word) in (0..).step_by(64).zip(words) {
        for (first, byte) in (first..).step_by(8).zip(word.to_le_bytes()) {
            let (places, number) = SET[byte as usize];
            found[end..end + 8].copy_from_slice(&places.map(|place| first + place));
            end += usize::from(number);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_places_come_in_order_and_once() {
        let many: Vec<Slot> = (0..10_000).rev().chain(0..500).step_by(3).collect();
        assert!(matches!(Places::of(many.clone(), 10_000), Places::Many(_)));
        for given in [vec![], vec![7, 3, 7, 9_999, 0], vec![1, 2, 9], many] {
            let mut expected = given.clone();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(Places::of(given, 10_000).into_vec(), expected);
        }
    }

    #[test]
    fn the_bits_of_words_are_found_from_the_lowest_on() {
        let words = [0, 1, 1 << 63, u64::MAX, 0xf0f0_0000_0180_0001, 0x5555_5555_5555_5555];
        let crowds =
            [vec![u64::MAX; WORDS], vec![0; WORDS], words.to_vec(), words.map(|word| word & 1).to_vec()];
        for crowd in crowds.into_iter().chain(words.map(|word| vec![word])) {
            let expected: Vec<u16> = (0..64 * crowd.len())
                .filter(|at| crowd[at / 64] >> (at % 64) & 1 == 1)
                .map(|at| at as u16)
                .collect();
            assert_eq!(positions(&crowd, &mut [9; ROOM]), expected);
            for find in [scattered, dense] {
                let mut found = [9; ROOM];
                let end = find(&crowd, &mut found);
                assert_eq!(found[..end], expected);
            }
        }
    }
}

//! Places of subscriptions in the order of registration: a list of few, a bit for each of many.

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
                for (first, &word) in (0..).step_by(64).zip(bits) {
                    let set = positions(word, &mut found);
                    slots.extend(set.iter().map(|&bit| first + Slot::from(bit)));
                }
            }
        }
    }
}

/// Bytes that [`positions`] may write.
pub(super) const ROOM: usize = 72;

/// By byte: where its bits are set, from the lowest on, a byte for each, and how many are.
static SET: [(u64, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                let (places, number) = &mut table[byte];
                *places |= bit << (8 * *number);
                *number += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Where the bits of a word are set, from the lowest on. Those of a byte come from a table all at once, so that no branch
/// depends on a bit.
#[inline]
pub(super) fn positions(word: u64, found: &mut [u8; ROOM]) -> &[u8] {
    let mut end = 0;
    for (eight, byte) in (0..).zip(word.to_le_bytes()) {
        let (places, number) = SET[byte as usize];
        let places = places + eight * 0x0808_0808_0808_0808;
        found[end..end + 8].copy_from_slice(&places.to_le_bytes());
        end += number as usize;
    }
    &found[..end]
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
    fn the_bits_of_a_word_are_found_from_the_lowest_on() {
        for word in [0, 1, 1 << 63, u64::MAX, 0xf0f0_0000_0180_0001, 0x5555_5555_5555_5555] {
            let expected: Vec<u8> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            assert_eq!(positions(word, &mut [9; ROOM]), expected);
        }
    }
}

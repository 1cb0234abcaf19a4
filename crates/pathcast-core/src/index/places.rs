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
        match self {
            Self::Few(slots) => slots,
            Self::Many(bits) => {
                let number = bits.iter().map(|word| word.count_ones() as usize).sum();
                let mut slots = Vec::with_capacity(number);
                for (first, word) in (0..).step_by(64).zip(bits) {
                    each_bit(word, |bit| slots.push(first + bit));
                }
                slots
            }
        }
    }
}

/// The bits that are set, from the lowest on.
#[inline]
pub(super) fn each_bit(mut word: u64, mut take: impl FnMut(u32)) {
    while word != 0 {
        take(word.trailing_zeros());
        word &= word - 1;
    }
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
}

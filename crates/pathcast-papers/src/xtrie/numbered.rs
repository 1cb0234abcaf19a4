//! Numbered things whose numbers are used again.

/// Puts an item at a number that is free, or else at the next.
///
/// The list grows by a sixteenth at a time: what is kept for every substring is most of an index, and doubling would leave
/// a quarter of it empty.
pub(super) fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    if let Some(at) = free.pop() {
        items[at as usize] = item;
        return at;
    }
    if items.len() == items.capacity() {
        items.reserve_exact(items.len() / 16 + 4);
    }
    items.push(item);
    (items.len() - 1) as u32
}

/// The number that comes next.
pub(super) fn next<T>(items: &[T], free: &[u32]) -> u32 {
    free.last().copied().unwrap_or(items.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_numbers_come_first_and_little_is_kept_empty() {
        let (mut items, mut free) = (Vec::new(), Vec::new());
        for each in 0..1_000 {
            assert_eq!(next(&items, &free), each);
            assert_eq!(put(&mut items, &mut free, each), each);
        }
        assert!(items.capacity() <= 1_000 + 1_000 / 16 + 4);
        free.extend([7, 3]);
        for at in [3, 7, 1_000] {
            assert_eq!(next(&items, &free), at);
            assert_eq!(put(&mut items, &mut free, 5_000), at);
        }
        assert_eq!((items[3], items[4], items[7], items.len()), (5_000, 4, 5_000, 1_001));
    }
}

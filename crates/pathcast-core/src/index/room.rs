//! How much the caches of one thread may hold.
//!
//! With more subscriptions the same sets of states are larger, so room that does not grow with them is one day too
//! small, and then hardly anything is remembered.

use super::Index;

const LEAST: usize = 64 << 20;
/// About half of what a subscription takes.
const EACH: usize = 128;

impl Index {
    /// Bytes that the caches of one thread may hold.
    pub(super) fn cache_bytes(&self) -> usize {
        self.settings.cache_bytes.unwrap_or_else(|| room(self.distinct()))
    }
}

/// It doubles, and seldom: a run with other room starts anew.
fn room(subscriptions: usize) -> usize {
    (subscriptions * EACH).next_power_of_two().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::{LEAST, room};

    #[test]
    fn grows_with_the_subscriptions() {
        assert_eq!(room(0), LEAST);
        assert_eq!(room(500_000), LEAST);
        assert_eq!(room(600_000), 2 * LEAST);
        assert_eq!(room(1_000_000), 2 * LEAST);
        assert_eq!(room(10_000_000), 32 * LEAST);
    }
}

//! When to look paths up by keys: tried where the cache keeps costing much, and kept if it costs less.
//!
//! Costs are counted, in look-ups of a key, so the same documents always lead to the same choice.

/// Documents without a change after which the cache is as good as it gets.
const SETTLED: u32 = 256;
/// The last so many of them are judged, and so many documents are tried.
const WINDOW: u32 = 32;
/// Documents until a cheap cache is judged again.
const PAUSE: u32 = 4096;
/// Fewer paths than this have no need of keys.
const FEWEST: usize = 4096;
/// What a start tag may cost without anybody thinking of another way.
const CHEAP: u64 = 64;
/// A table that a change made worthless is built again after a document for each so many paths.
const REBUILT: usize = 32;

/// What some documents cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) tags: u64,
    /// In look-ups.
    pub(super) work: u64,
}

impl Cost {
    /// A start tag's since another moment.
    fn since(self, before: Self) -> u64 {
        (self.work - before.work) / (self.tags - before.tags).max(1)
    }
}

/// What to do about the next document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing new.
    Stay,
    /// Build the table and take it.
    Try,
    /// Go on with the table and let go of the cache.
    Keep,
    /// Let go of the table.
    Drop,
}

/// How far a trial has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    documents: u32,
    /// Documents until the cache is judged, if more than usual.
    wait: u32,
    cached: Cost,
    keyed: Cost,
    /// What the cache cost a start tag.
    limit: u64,
    kept: bool,
    /// Whether a table was ever built.
    built: bool,
    /// How many paths there were when a table did not pay; for about as many it is not tried again.
    refused: usize,
}

impl Trial {
    /// The subscriptions have changed.
    pub(super) fn restart(&mut self, paths: usize) {
        let wait = if self.built { (paths / REBUILT) as u32 } else { 0 };
        *self = Self { wait, built: self.built, refused: self.refused, ..Self::default() };
    }

    /// Before each document: what the cache and the table cost so far. `keyed` is nothing while there is no table.
    pub(super) fn next(&mut self, paths: usize, cached: Cost, keyed: Option<Cost>) -> Verdict {
        if self.kept || paths < FEWEST || paths.abs_diff(self.refused) < self.refused / 4 {
            return Verdict::Stay;
        }
        self.documents += 1;
        let settled = self.wait.max(SETTLED);
        match keyed {
            None if self.documents == settled - WINDOW => self.cached = cached,
            None if self.documents == settled => {
                let unused = cached.tags == self.cached.tags;
                self.limit = if unused { u64::MAX } else { cached.since(self.cached) };
                if self.limit > CHEAP {
                    self.built = true;
                    return Verdict::Try;
                }
                (self.documents, self.wait) = (0, PAUSE);
            }
            Some(cost) if self.documents == settled + 1 => self.keyed = cost,
            Some(cost) if self.documents == settled + 1 + WINDOW => {
                if cost.since(self.keyed) < self.limit - self.limit / 4 {
                    self.kept = true;
                    return Verdict::Keep;
                }
                self.refuse(paths);
                return Verdict::Drop;
            }
            _ => {}
        }
        Verdict::Stay
    }

    /// The table did not pay, or could not be built.
    pub(super) fn refuse(&mut self, paths: usize) {
        *self = Self { refused: paths, built: true, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts other than to stay, with the documents they came before.
    fn verdicts(
        trial: &mut Trial,
        documents: u32,
        paths: usize,
        cached: u64,
        keyed: u64,
    ) -> Vec<(u32, Verdict)> {
        let mut has_table = false;
        let mut found = Vec::new();
        for document in 1..=documents {
            let seen = u64::from(document);
            let cost = |work| Cost { tags: 10 * seen, work: 10 * seen * work };
            let verdict = trial.next(paths, cost(cached), has_table.then(|| cost(keyed)));
            has_table = (has_table || verdict == Verdict::Try) && verdict != Verdict::Drop;
            if verdict != Verdict::Stay {
                found.push((document, verdict));
            }
        }
        found
    }

    #[test]
    fn keys_are_tried_where_the_cache_costs_much_and_kept_if_they_cost_less() {
        let fresh = |paths, cached, keyed| verdicts(&mut Trial::default(), 10_000, paths, cached, keyed);
        assert_eq!(fresh(100_000, 60, 1), []);
        assert_eq!(fresh(1_000, 600, 1), []);
        assert_eq!(fresh(100_000, 600, 40), [(256, Verdict::Try), (289, Verdict::Keep)]);
        assert_eq!(fresh(100_000, 600, 500), [(256, Verdict::Try), (289, Verdict::Drop)]);
    }

    #[test]
    fn after_a_change_keys_wait_until_they_can_pay() {
        let mut trial = Trial::default();
        let kept = [(256, Verdict::Try), (289, Verdict::Keep)];
        assert_eq!(verdicts(&mut trial, 300, 100_000, 600, 40), kept);
        trial.restart(100_000);
        let again = [(3_125, Verdict::Try), (3_158, Verdict::Drop)];
        assert_eq!(verdicts(&mut trial, 10_000, 100_000, 600, 500), again);
        trial.restart(100_010);
        assert_eq!(verdicts(&mut trial, 10_000, 100_010, 600, 500), []);
        trial.restart(200_000);
        assert_eq!(verdicts(&mut trial, 10_000, 200_000, 600, 40).len(), 2);
    }
}

//! Which way to run a set, and when to think again. One place, so that it can be tested as a table.
//!
//! There are two candidates; `make bench` prints how far they are from the best of all engines: the lazy DFA where documents repeat states, the shared automaton where they do not or where there is
//! no room or no time to remember. Both run on one automaton, so changing from one to the other costs nothing.

use super::profile::Profile;

/// Below so many bytes a cache would be emptied again and again.
const LEAST_BUDGET: usize = 64 << 10;
/// Documents after which the cache is judged.
pub(super) const WINDOW: u32 = 32;
/// Documents for which a cache that does not pay is left alone; doubled when it does not pay again.
pub(super) const SHORTEST_REST: u32 = 64;
/// The longest such rest.
pub(super) const LONGEST_REST: u32 = 4096;

/// How a document is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Not at all: there is no path to look for.
    Nothing,
    /// On the shared automaton.
    Shared,
    /// On remembered states.
    Cached,
    /// By keys.
    Keyed,
}

impl Way {
    /// The engine that runs so; where nothing runs, it is still to be chosen.
    pub fn engine(self) -> &'static str {
        match self {
            Self::Nothing => "auto",
            Self::Shared => "yfilter",
            Self::Cached | Self::Keyed => "lazy-dfa",
        }
    }
}

/// A way and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way.
    pub way: Way,
    /// Why.
    pub reason: &'static str,
}

/// The way for a set, before any document is seen.
pub fn choose(profile: &Profile, cache_bytes: usize) -> Choice {
    let (way, reason) = if profile.paths == 0 {
        (Way::Nothing, "no subscription looks for a path")
    } else if cache_bytes < LEAST_BUDGET {
        (Way::Shared, "cache_bytes leaves no room for remembered states")
    } else if profile.descendants + profile.wildcards == 0 {
        (Way::Cached, "no // and no *: every element has one state, looked up once")
    } else {
        (Way::Cached, "documents reach few sets of the states that // and * keep active")
    };
    Choice { way, reason }
}

/// What the cache did for some documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Start tags.
    pub tags: u64,
    /// Those for which a transition was built, or stepped without keeping it.
    pub missed: u64,
    /// Documents for which the budget was used up, since the subscriptions last changed.
    pub full: u64,
}

impl Work {
    /// Whether the shared automaton would have been faster: a built transition is taken to
    /// cost three of its steps, an estimate that was not measured. While
    /// there is room, building is an investment that the budget bounds.
    pub fn does_not_pay(self) -> bool {
        self.full > 0 && 3 * self.missed > self.tags
    }
}

/// What a run remembers of its documents to choose for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judge {
    /// Documents since the cache was judged.
    documents: u32,
    before: Work,
    /// Documents for which the budget was used up before the subscriptions last changed.
    full_before: u64,
    /// Documents for which the cache is left alone.
    resting: u32,
    last_rest: u32,
    /// Times the cache did not pay.
    pub(super) rests: u64,
}

impl Judge {
    /// The way for the next document of a set that may be cached. `total` is the cache's work so far; `changed` says
    /// that the subscriptions have changed since the last document.
    pub(super) fn next(&mut self, total: Work, changed: bool) -> Way {
        if changed {
            // Perhaps they change again before the next: a cache is built when a second document comes.
            *self = Self { before: total, full_before: total.full, rests: self.rests, ..Self::default() };
            return Way::Shared;
        }
        if self.resting > 0 {
            self.resting -= 1;
            return Way::Shared;
        }
        if self.documents == WINDOW {
            let work = Work {
                tags: total.tags - self.before.tags,
                missed: total.missed - self.before.missed,
                // A cache that was full and lost a half of itself is seldom full again within a window.
                full: total.full - self.full_before,
            };
            (self.documents, self.before) = (0, total);
            if work.does_not_pay() {
                self.last_rest = (2 * self.last_rest).clamp(SHORTEST_REST, LONGEST_REST);
                self.resting = self.last_rest - 1;
                self.rests += 1;
                return Way::Shared;
            }
            self.last_rest = 0;
        }
        self.documents += 1;
        Way::Cached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_for_a_set_is_a_table() {
        let plain = Profile { paths: 1_000, ..Profile::default() };
        let open = Profile { descendants: 300, wildcards: 100, ..plain };
        for (profile, cache_bytes, way, reason) in [
            (Profile::default(), 64 << 20, Way::Nothing, "no subscription"),
            (Profile::default(), 0, Way::Nothing, "no subscription"),
            (plain, 0, Way::Shared, "no room"),
            (open, 2_000, Way::Shared, "no room"),
            (plain, 64 << 20, Way::Cached, "no // and no *"),
            (open, 64 << 20, Way::Cached, "few sets"),
            (Profile { descendants: 0, ..open }, 64 << 10, Way::Cached, "few sets"),
            (Profile { paths: 1, ..Profile::default() }, 64 << 20, Way::Cached, "no // and no *"),
        ] {
            let choice = choose(&profile, cache_bytes);
            assert_eq!(choice.way, way, "{profile:?}, {cache_bytes}");
            assert!(choice.reason.contains(reason), "{profile:?}, {cache_bytes}: {}", choice.reason);
        }
    }

    #[test]
    fn whether_a_cache_pays_is_a_table() {
        for (tags, missed, full, expected) in [
            (0, 0, 0, false),
            (3_000, 3_000, 0, false), // there is room
            (3_000, 1_000, 1, false),
            (3_000, 1_001, 1, true),
            (3_000, 3_000, 32, true),
        ] {
            assert_eq!(Work { tags, missed, full }.does_not_pay(), expected, "{missed} of {tags}, {full}");
        }
    }

    /// The ways of so many documents of ten tags each, of which so many are missed when cached.
    fn ways(judge: &mut Judge, total: &mut Work, documents: usize, missed: u64) -> (usize, usize) {
        let (mut shared, mut cached) = (0, 0);
        for _ in 0..documents {
            if judge.next(*total, false) == Way::Cached {
                cached += 1;
                *total = Work { tags: total.tags + 10, missed: total.missed + missed, full: total.full + 1 };
            } else {
                shared += 1;
            }
        }
        (shared, cached)
    }

    #[test]
    fn a_cache_that_was_full_once_is_judged_by_what_it_misses() {
        let (mut judge, mut total) = (Judge::default(), Work { full: 1, ..Work::default() });
        assert_eq!(judge.next(total, false), Way::Cached);
        for (documents, expected) in [(31, Way::Cached), (64, Way::Shared), (32, Way::Cached)] {
            for _ in 0..documents {
                total = Work { tags: total.tags + 10, missed: total.missed + 10, full: total.full };
                assert_eq!(judge.next(total, false), expected);
            }
        }
        assert_eq!((judge.next(total, false), judge.rests), (Way::Shared, 2));
    }

    #[test]
    fn a_cache_that_does_not_pay_rests_ever_longer_and_is_tried_again() {
        let (mut judge, mut total) = (Judge::default(), Work::default());
        assert_eq!(judge.next(total, true), Way::Shared, "subscriptions have just changed");
        assert_eq!(ways(&mut judge, &mut total, 32, 10), (0, 32));
        assert_eq!(ways(&mut judge, &mut total, 64, 10), (64, 0));
        assert_eq!(ways(&mut judge, &mut total, 32, 10), (0, 32));
        assert_eq!(ways(&mut judge, &mut total, 128, 10), (128, 0));
        assert_eq!(judge.rests, 2);
        // Documents repeat again: no more rests.
        assert_eq!(ways(&mut judge, &mut total, 1_000, 0), (0, 1_000));
        assert_eq!(judge.next(total, true), Way::Shared);
        assert_eq!(judge.next(total, true), Way::Shared);
        assert_eq!(judge.next(total, false), Way::Cached);
    }
}

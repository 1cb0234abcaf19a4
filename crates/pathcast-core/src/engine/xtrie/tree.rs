//! Tree patterns, eager and lazy, ordered and not.
//!
//! **Idea.** A row *holds* at a level when its substring ends there, its tests pass and its parent holds at a level that
//! fits, up to the document node. Holding is a fact about open elements and never changes while they are open. When a
//! leaf holds, or the last branch of a row was found, the row is *complete*, which is a branch found for its parent at
//! every level that fits; so it goes up, and the pattern is found when its first row is complete.
//!
//! **Eager** notes for each inner row the levels at which it holds. **Lazy** notes the levels at which substrings were
//! met, looks at leaves alone, and works out from the top at which levels the rows above hold. The two differ
//! in nothing else. Dummies have no substring: where they hold is worked out in both.
//!
//! A row that asks for none of its branches waits for the end tag: it is complete there if none was found.
//!
//! **Redundant matchings** are passed over: a row is not noted when no parent wants its branch any more, and after a
//! row whose distance to its parent is open has completed, the same row further up can add nothing and is finished.
//!
//! **Cost.** A row that is tried costs the sets of its ancestors at most, one word each up to 63 levels. A branch is noted
//! once for each row and open element.

use super::levels::Levels;
use super::local::{accepts, passes};
use super::pattern::Mode;
use super::run::Run;
use super::state::Branches;
use super::table::{NONE, Row};
use super::{Variant, XTrie};

impl Row {
    fn branches(&self) -> Branches {
        Branches { mode: self.mode, count: self.children }
    }
}

impl XTrie {
    /// Tries a row whose substring was met at the innermost node.
    pub(super) fn probe_row(&self, run: &mut Run, at: u32, level: u32) {
        let row = self.table.row(at);
        if run.found.contains(row.pattern) {
            return;
        }
        if row.children == 0 && row.tests == NONE {
            self.complete(run, at, level);
            return;
        }
        if row.parent != NONE && !self.is_wanted(run, row, level) {
            return;
        }
        if row.tests != NONE && !self.starts_pass(run, row.tests, level) {
            return;
        }
        if row.children > 0 && self.options.variant == Variant::Eager {
            #[cfg(test)]
            run.trace.push((at, level, 1));
            run.rows.insert(at, level);
            run.noted_rows.push(at);
        }
        if row.mode == Mode::Not || row.children == 0 && self.waits(row) {
            run.wait(level, at, false);
        } else if row.children == 0 {
            self.complete(run, at, level);
        }
    }

    /// Whether the parent holds at a level that fits and still wants this branch.
    fn is_wanted(&self, run: &Run, row: &Row, level: u32) -> bool {
        let branches = self.table.row(row.parent).branches();
        let parents = self.parents(run, row, level);
        parents
            .iter()
            .any(|each| run.states.wants(row.parent, each, branches, row.rank, run.open.branch(each)))
    }

    /// The levels that fit at which the parent of a row at a level holds.
    fn parents(&self, run: &Run, row: &Row, level: u32) -> Levels {
        if self.options.variant == Variant::Eager && self.table.row(row.parent).node != NONE {
            return run.rows.above(row.parent, level, row.gap);
        }
        let mut parents = Levels::one(level).above(row.gap);
        parents.keep(&self.holding(run, row.parent));
        parents
    }

    /// The levels at which a row holds.
    fn holding(&self, run: &Run, at: u32) -> Levels {
        let (row, bound) = (self.table.row(at), run.level());
        if self.options.variant == Variant::Eager && row.node != NONE {
            return run.rows.get(at, bound);
        }
        let above = if row.parent == NONE { Levels::one(0) } else { self.holding(run, row.parent) };
        let mut levels = above.below(row.gap, bound);
        if row.node != NONE {
            levels.keep(&run.met.get(row.node, bound));
        }
        if row.tests != NONE {
            levels.retain(|level| self.starts_pass(run, row.tests, level));
        }
        levels
    }

    fn waits(&self, row: &Row) -> bool {
        row.tests != NONE && self.table.tests(row.tests).is_some_and(|tests| !tests.ends.is_empty())
    }

    /// A row is complete at a level: its parents have a branch more.
    fn complete(&self, run: &mut Run, at: u32, level: u32) {
        run.agenda.push((at, level));
        while let Some((at, level)) = run.agenda.pop() {
            let row = self.table.row(at);
            if row.parent == NONE {
                run.found.add(row.pattern);
                run.agenda.clear();
                return;
            }
            let parent = self.table.row(row.parent);
            let mut helped = false;
            #[cfg(test)]
            let before = run.trace.len();
            for each in self.parents(run, row, level).iter() {
                let child = run.open.branch(each);
                let Some(done) = run.states.find(row.parent, each, parent.branches(), row.rank, child) else {
                    continue;
                };
                helped = true;
                #[cfg(test)]
                {
                    let value = run.states.value(row.parent, each, parent.branches());
                    run.trace.push((row.parent, each, value));
                }
                if !done {
                    continue;
                }
                if parent.mode == Mode::Not {
                    // It waits for the end tag, and will not be complete there.
                } else if self.waits(parent) {
                    run.wait(each, row.parent, false);
                } else {
                    run.agenda.push((row.parent, each));
                }
            }
            #[cfg(test)]
            if helped && row.children == 0 {
                run.trace.insert(before, (at, level, 1));
            }
            if helped && !row.gap.exact && row.children > 0 {
                self.finish_above(run, at, row, level);
            }
        }
    }

    /// The same row at levels further up reaches no parent that this one did not.
    fn finish_above(&self, run: &mut Run, at: u32, row: &Row, level: u32) {
        if level == 0 || row.node == NONE || self.options.variant == Variant::Lazy {
            return;
        }
        let mut above = Levels::range(0, level - 1);
        above.keep(&run.rows.get(at, level));
        for each in above.iter() {
            let _fresh = run.states.finish(at, each, row.branches());
            #[cfg(test)]
            if _fresh {
                run.trace.push((at, each, u64::from(row.children) + 1));
            }
        }
    }

    /// An element ends: a row that waited for it.
    pub(super) fn end_row(&self, run: &mut Run, at: u32, level: u32) {
        let row = self.table.row(at);
        if run.found.contains(row.pattern) || row.mode == Mode::Not && run.states.is_done(at, level) {
            return;
        }
        if row.tests == NONE {
            self.complete(run, at, level);
            return;
        }
        let Some(tests) = self.table.tests(row.tests) else { return };
        let element = run.open.element(level);
        if tests.ends.iter().all(|test| passes(test, &element, Some(run.open.ending()))) {
            self.complete(run, at, level);
        }
    }

    /// A text node ends: a row that waited for it.
    pub(super) fn end_text_row(&self, run: &mut Run, at: u32, level: u32, text: &str) {
        let row = self.table.row(at);
        let tests = self.table.tests(row.tests);
        if tests.is_none_or(|tests| tests.ends.iter().all(|test| accepts(test, text))) {
            self.complete(run, at, level);
        }
    }
}

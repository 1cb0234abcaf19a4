//! Tree patterns, eager and lazy, ordered and not.
//!
//! **Idea.** A row *holds* at a level when its lineage does. Holding is a fact about open elements and never changes while
//! they are open. When a leaf holds, or the last branch of a row was found, the row is *complete*, which is a branch found
//! for its parent at every level that fits at which the parent holds; so it goes up, and the pattern is found when its first
//! row is complete. Both variants do the same here; they differ in how they know where a lineage holds.
//!
//! **Redundant matchings** are passed over: a branch that was found is not found again, and after a row whose
//! distance to its parent is open has completed, the same row further up can add nothing and is finished.
//!
//! A row that asks for none of its branches waits for the end tag: it is complete there if none was found.
//!
//! **Cost.** A branch is noted once for each row and open element.

use std::cell::Cell;

use super::levels::Levels;
use super::local::{accepts, passes};
use super::node::NONE;
use super::open::Value;
use super::pattern::Mode;
use super::run::Run;
use super::shared::{Variant, XTrie};
use super::state::Branches;
use super::table::Row;

impl Row {
    fn branches(&self) -> Branches {
        Branches { mode: self.mode, count: self.children }
    }
}

impl XTrie {
    /// A leaf, or a row that waits for the end tag, holds at the innermost node.
    ///
    /// `again` is the nearest level a parent may be at, if the lineage was tried below the same element there. For a leaf in
    /// order that is the one level left to try: all that was found since lies under the same child of each element further
    /// up, where two branches cannot both lie.
    pub(super) fn probe_row(&self, run: &mut Run, at: u32, level: u32, again: Option<u32>) {
        let row = self.table.row(at);
        if run.found.contains(row.pattern) || row.starts != NONE && !self.starts_pass(run, row.starts, level)
        {
            return;
        }
        if row.ends == NONE && row.mode != Mode::Not {
            let again = again.filter(|_| row.starts == NONE && row.children == 0 && row.parent != NONE);
            let wanted = |from: u32| {
                let parent = self.table.row(row.parent);
                parent.mode != Mode::Ordered
                    || run.states.wants(row.parent, from, parent.branches(), row.rank, run.open.branch(from))
            };
            match again {
                Some(from) if !wanted(from) => {}
                _ => self.complete(run, at, level),
            }
        } else if row.parent == NONE || self.is_wanted(run, row, level) {
            run.wait(level, at);
        }
    }

    /// Leaves that are found by nothing but their lineage hold at the innermost node.
    ///
    /// Rows and states are fetched in a loop of their own before any of them is acted upon: with 50,000 patterns each is a
    /// cache miss, and then the misses overlap.
    pub(super) fn complete_all(&self, run: &mut Run, rows: &[u32], level: u32) {
        let mut batch = std::mem::take(&mut run.batch);
        for &at in rows {
            let row = self.table.row(at);
            if !run.found.contains(row.pattern) {
                batch.push((at, run.states.fetch(row.parent)));
            }
        }
        batch.drain(..).for_each(|(row, _)| self.complete(run, row, level));
        run.batch = batch;
    }

    /// Whether a parent still wants this branch.
    fn is_wanted(&self, run: &mut Run, row: &Row, level: u32) -> bool {
        let branches = self.table.row(row.parent).branches();
        let above = self.above(run, row.lineage, level);
        above.iter().any(|each| run.states.wants(row.parent, each, branches, row.rank, run.open.branch(each)))
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
            for each in self.above(run, row.lineage, level).iter() {
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
                if !done || parent.mode == Mode::Not {
                    // One that asks for none waits for the end tag, and will not be complete there.
                    continue;
                }
                if parent.ends == NONE {
                    run.agenda.push((row.parent, each));
                } else {
                    run.wait(each, row.parent);
                }
            }
            #[cfg(test)]
            if helped && row.children == 0 {
                run.trace.insert(before, (at, level, 1));
            }
            if helped && row.children > 0 {
                self.finish_above(run, at, row, level);
            }
        }
    }

    /// The same row at levels further up reaches no parent that this one did not, if the distance is open.
    fn finish_above(&self, run: &mut Run, at: u32, row: &Row, level: u32) {
        let lineage = self.table.lineages.get(row.lineage);
        if lineage.gap.exact || level == 0 || lineage.node == NONE || self.options.variant == Variant::Lazy {
            return;
        }
        let mut above = Levels::range(0, level - 1);
        above.keep(&run.held.get(row.lineage, level));
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
        let element = run.open.element(level);
        if self.table.ends(row.ends).iter().all(|test| passes(test, &element, run.open.ending())) {
            self.complete(run, at, level);
        }
    }

    /// A text node ends: a row that waited for it.
    pub(super) fn end_text_row(&self, run: &mut Run, at: u32, level: u32, text: &str) {
        let row = self.table.row(at);
        let number = Cell::new(None);
        let value = Value::new(text, &number);
        if self.table.ends(row.ends).iter().all(|test| accepts(test, value)) {
            self.complete(run, at, level);
        }
    }

    /// Inner rows of a lineage that was just noted, for the trace of the paper's Table 2: those that are not redundant.
    #[cfg(test)]
    pub(super) fn trace_held(&self, run: &mut Run, lineage: u32, level: u32) {
        for at in 0..self.table.row_bound() as u32 {
            let row = self.table.row(at);
            if row.subtree != NONE {
                continue;
            }
            let wanted = row.parent == NONE || self.is_wanted(run, row, level);
            if row.lineage == lineage && row.children > 0 && wanted {
                run.trace.push((at, level, 1));
            }
        }
    }
}

//! Whether a lineage holds: eager from what was noted above, lazy by a climb.
//!
//! **Eager.** A lineage holds at a level when the one above it holds at one that fits; one word says at which levels it
//! does.
//!
//! **Lazy.** Nothing is noted but the levels at which substrings were met. From a leaf the climb goes up with *all* levels at
//! which the lineages above may stand: the levels that fit, of those at which the substring was met. When none is
//! left the leaf does not hold. The paper tries one level after the other and starts over from each; on a
//! document that repeats a name that takes time exponential in the number of `//`, the climb by sets takes one step a
//! substring.
//!
//! A dummy has no substring. Where it holds is worked out from the lineage above, in both variants.

use super::levels::Levels;
use super::local::passes;
use super::run::Run;
use super::table::NONE;
use super::{Variant, XTrie};
use crate::engine::PathId;

impl XTrie {
    /// Tries a lineage whose substring was met at the innermost node.
    pub(super) fn probe(&self, run: &mut Run, at: u32, level: u32) {
        let lineage = self.table.lineages.get(at);
        let eager = self.options.variant == Variant::Eager;
        let holds = if lineage.parent == NONE {
            lineage.gap.fits(level)
        } else {
            let above = self.table.lineages.get(lineage.parent);
            match (eager, above.node) {
                (true, NONE) => !self.above(run, at, level).is_empty(),
                (true, _) => run.held.has_above(lineage.parent, level, lineage.gap),
                (false, _) => self.climb(run, at, level),
            }
        };
        if !holds || lineage.tests != NONE && !self.starts_pass(run, lineage.tests, level) {
            return;
        }
        if eager && lineage.below > 0 {
            run.held.insert(at, level);
            run.noted.push(at);
            #[cfg(test)]
            self.trace_held(run, at, level);
        }
        if !lineage.paths.is_empty() {
            let document = run.open.serial(0);
            if std::mem::replace(&mut run.found_in[at as usize], document) != document {
                lineage.paths.iter().for_each(|&path| run.found.add(PathId(path)));
            }
        }
        for &path in &lineage.waiting {
            if !run.found.contains(PathId(path)) {
                run.wait(level, path, true);
            }
        }
        if !lineage.plain.is_empty() {
            let anchor = if lineage.parent == NONE { 0 } else { level - lineage.gap.min };
            let anchor = run.open.serial(anchor);
            if std::mem::replace(&mut run.tried[at as usize], anchor) != anchor {
                lineage.plain.iter().for_each(|&row| self.probe_row(run, row, level));
            }
        }
        lineage.others.iter().for_each(|&row| self.probe_row(run, row, level));
    }

    /// The levels that fit at which the lineage above one holds that is met at a level.
    pub(super) fn above(&self, run: &Run, at: u32, level: u32) -> Levels {
        let lineage = self.table.lineages.get(at);
        if lineage.parent == NONE {
            return if lineage.gap.fits(level) { Levels::one(0) } else { Levels::default() };
        }
        if self.options.variant == Variant::Eager && self.table.lineages.get(lineage.parent).node != NONE {
            return run.held.above(lineage.parent, level, lineage.gap);
        }
        let mut levels = Levels::one(level).above(lineage.gap);
        levels.keep(&self.holding(run, lineage.parent));
        levels
    }

    /// The levels at which a lineage holds, worked out from the top.
    pub(super) fn holding(&self, run: &Run, at: u32) -> Levels {
        let (lineage, bound) = (self.table.lineages.get(at), run.level());
        if self.options.variant == Variant::Eager && lineage.node != NONE {
            return run.held.get(at, bound);
        }
        let above = if lineage.parent == NONE { Levels::one(0) } else { self.holding(run, lineage.parent) };
        let mut levels = above.below(lineage.gap, bound);
        if lineage.node != NONE {
            levels.keep(&run.met.get(lineage.node, bound));
        }
        if lineage.tests != NONE {
            levels.retain(|level| self.starts_pass(run, lineage.tests, level));
        }
        levels
    }

    /// Whether a lineage hangs together from a level up to the document node.
    fn climb(&self, run: &Run, at: u32, level: u32) -> bool {
        let mut levels = Levels::one(level);
        let mut below = self.table.lineages.get(at);
        while below.parent != NONE {
            let lineage = self.table.lineages.get(below.parent);
            levels = levels.above(below.gap);
            if lineage.node != NONE {
                levels.keep(&run.met.get(lineage.node, level));
            }
            if lineage.tests != NONE {
                levels.retain(|each| self.starts_pass(run, lineage.tests, each));
            }
            if levels.is_empty() {
                return false;
            }
            below = lineage;
        }
        levels.reached_by(below.gap)
    }

    /// How many lineages are above one.
    pub(super) fn depth(&self, at: u32) -> u32 {
        let next = |&at: &u32| Some(self.table.lineages.get(at).parent).filter(|&parent| parent != NONE);
        std::iter::successors(Some(at), next).count() as u32
    }

    /// Whether the elements of a substring that ends at a level pass their tests.
    pub(super) fn starts_pass(&self, run: &Run, tests: u32, level: u32) -> bool {
        self.table
            .starts(tests)
            .iter()
            .all(|test| level >= test.up && passes(&test.condition, &run.open.element(level - test.up), None))
    }

    /// The innermost element ends: a single path that waited for it.
    pub(super) fn end_path(&self, run: &mut Run, path: PathId) {
        let Some(row) = self.table.path(path) else { return };
        let element = run.open.element(run.level());
        if self.table.ends(row.ends).iter().all(|test| passes(test, &element, Some(run.open.ending()))) {
            run.found.add(path);
        }
    }
}

//! Whether a lineage holds: eager from what was noted above, lazy by asking upwards.
//!
//! **Eager.** A lineage holds at a level when the one above it holds at one that fits; one word says at which levels it
//! does.
//!
//! **Lazy.** Nothing is noted but the levels at which substrings were met. A leaf asks the lineage above it at each level that
//! fits, which asks the one above it, and each remembers its answer while its element is open. The paper asks without
//! remembering; on a document that repeats a name that takes time exponential in the number of `//`.
//!
//! A dummy has no substring. Where it holds is asked in both variants.

use std::cell::Cell;

use super::levels::Levels;
use super::lineage::{Lineage, Other, Target, Tested};
use super::local::{accepts, passes};
use super::node::NONE;
use super::open::Value;
use super::run::Run;
use super::shared::{Variant, XTrie};
use super::start_test::StartTest;
use pathcast_core::engine::PathId;

impl XTrie {
    /// Tries a lineage whose substring was met at the innermost node; `hangs` if it is known to hang on the one above.
    pub(super) fn probe(&self, run: &mut Run, at: u32, level: u32, hangs: bool) {
        let lineage = self.table.lineages.get(at);
        let eager = self.options.variant == Variant::Eager;
        if !(hangs || self.hangs(run, lineage, level))
            || lineage.tests != NONE && !self.starts_pass(run, lineage.tests, level)
        {
            return;
        }
        if eager && lineage.below > 0 {
            self.note(run, at, level);
        }
        if !lineage.paths.is_empty() && !run.spent.contains(PathId(at)) {
            run.spent.add(PathId(at));
            lineage.paths.iter().for_each(|&path| run.found.add(PathId(path)));
        }
        let lacks = !run.open.has();
        for &Tested { target, starts, ends, needs } in &lineage.tested {
            if needs & lacks != 0
                || self.is_known(run, target, lineage, level)
                || starts != NONE && !self.starts_pass(run, starts, level)
            {
                continue;
            }
            if ends == NONE {
                self.reach(run, target, level);
            } else {
                run.wait_for(level, target, ends);
            }
        }
        if lineage.leaf == NONE && lineage.plain.is_empty() && lineage.others.is_empty() {
            return;
        }
        let anchor = if lineage.parent == NONE { 0 } else { level - lineage.gap.min };
        let serial = run.open.serial(anchor);
        let again = std::mem::replace(&mut run.tried[at as usize], serial) == serial;
        if !again {
            if lineage.leaf != NONE {
                self.complete_subtree(run, lineage.leaf, level);
            }
            self.complete_all(run, &lineage.plain, level);
        }
        let again = again.then_some(anchor);
        for &Other { row, after } in &lineage.others {
            if after == NONE || run.states.has_any(after) {
                self.probe_row(run, row, level, again);
            }
        }
    }

    /// A lineage holds at a level.
    #[inline]
    pub(super) fn note(&self, run: &mut Run, at: u32, level: u32) {
        run.held.insert(at, level);
        run.noted.push(at);
        #[cfg(test)]
        self.trace_held(run, at, level);
    }

    /// The levels that fit at which the lineage above one holds that is met at a level.
    pub(super) fn above(&self, run: &mut Run, at: u32, level: u32) -> Levels {
        let lineage = self.table.lineages.get(at);
        if lineage.parent == NONE {
            return if lineage.gap.fits(level) { Levels::one(0) } else { Levels::default() };
        }
        let mut levels = self.candidates(run, lineage, level);
        if self.is_worked_out(lineage) {
            levels.retain(|each| self.holds(run, lineage.parent, each));
        }
        levels
    }

    /// The levels that fit at which the lineage above one may hold, as far as substrings tell; eager, where it does.
    fn candidates(&self, run: &Run, lineage: &Lineage, level: u32) -> Levels {
        if lineage.on_dummy {
            Levels::one(level).above(lineage.gap)
        } else if self.options.variant == Variant::Eager {
            run.held.above(lineage.parent, level, lineage.gap)
        } else {
            run.met.above(self.table.lineages.get(lineage.parent).node, level, lineage.gap)
        }
    }

    /// Whether it takes a question to know where the lineage above one holds.
    fn is_worked_out(&self, lineage: &Lineage) -> bool {
        self.options.variant == Variant::Lazy || lineage.on_dummy
    }

    /// Whether a lineage that may hold at a level does, found out once while the element there is open.
    fn holds(&self, run: &mut Run, at: u32, level: u32) -> bool {
        if run.asked.has(at, level) {
            return run.held.has(at, level);
        }
        let lineage = self.table.lineages.get(at);
        let holds = self.hangs(run, lineage, level)
            && (lineage.tests == NONE || self.starts_pass(run, lineage.tests, level));
        run.answer(at, level, holds);
        holds
    }

    /// Whether the lineage above one holds at a level that fits.
    fn hangs(&self, run: &mut Run, lineage: &Lineage, level: u32) -> bool {
        if lineage.parent == NONE {
            return lineage.gap.fits(level);
        }
        if run.held.has_above(lineage.parent, level, lineage.gap) {
            return true;
        }
        if !self.is_worked_out(lineage) {
            return false;
        }
        let mut open = self.candidates(run, lineage, level);
        open.drop(&run.asked.above(lineage.parent, level, lineage.gap));
        open.iter().any(|each| self.holds(run, lineage.parent, each))
    }

    /// How many lineages are above one.
    pub(super) fn depth(&self, at: u32) -> u32 {
        let next = |&at: &u32| Some(self.table.lineages.get(at).parent).filter(|&parent| parent != NONE);
        std::iter::successors(Some(at), next).count() as u32
    }

    /// Whether the elements of a substring that ends at a level pass their tests.
    pub(super) fn starts_pass(&self, run: &mut Run, tests: u32, level: u32) -> bool {
        let mut known = true;
        for gist in self.table.gists(tests) {
            let verdict = match level.checked_sub(gist.up()) {
                Some(level) => run.open.element(level).verdict(gist),
                None => Some(false),
            };
            match verdict {
                Some(true) => {}
                Some(false) => return false,
                None => known = false,
            }
        }
        known || self.starts_pass_themselves(run, tests, level)
    }

    /// The same where gists do not tell. Many lineages have the same tests, so the last answer is remembered.
    #[cold]
    fn starts_pass_themselves(&self, run: &mut Run, tests: u32, level: u32) -> bool {
        let serial = run.open.serial(level) << 1;
        let Some(&verdict) = run.verdicts.get(tests as usize) else { return true };
        if serial != 0 && verdict & !1 == serial {
            return verdict & 1 != 0;
        }
        let passes = self.ask_starts(run, tests, level);
        run.verdicts[tests as usize] = serial | u64::from(passes);
        passes
    }

    fn ask_starts(&self, run: &Run, tests: u32, level: u32) -> bool {
        let passes = |test: &StartTest| {
            level >= test.up && passes(&test.condition, &run.open.element(level - test.up), None)
        };
        self.table.starts(tests).iter().all(passes)
    }

    /// A lineage holds and the tests pass.
    fn reach(&self, run: &mut Run, target: Target, level: u32) {
        match target {
            Target::Path(path) => run.found.add(PathId(path)),
            Target::Subtree(subtree) => self.complete_subtree(run, subtree, level),
        }
    }

    /// Whether a test would tell nothing new.
    #[inline]
    fn is_known(&self, run: &Run, target: Target, lineage: &Lineage, level: u32) -> bool {
        match target {
            Target::Path(path) => run.found.contains(PathId(path)),
            Target::Subtree(subtree) => {
                lineage.parent != NONE
                    && lineage.gap.exact
                    && run.complete.has(subtree, level - lineage.gap.min)
            }
        }
    }

    /// The innermost element ends: what waited for its value.
    pub(super) fn end_tested(&self, run: &mut Run, target: Target, ends: u32, level: u32) {
        let element = run.open.element(level);
        if self.table.ends(ends).iter().all(|test| passes(test, &element, run.open.ending())) {
            self.reach(run, target, level);
        }
    }

    /// A text node ends: what waited for it.
    pub(super) fn end_tested_text(&self, run: &mut Run, target: Target, ends: u32, level: u32, text: &str) {
        let number = Cell::new(None);
        let value = Value::new(text, &number);
        if self.table.ends(ends).iter().all(|test| accepts(test, value)) {
            self.reach(run, target, level);
        }
    }
}

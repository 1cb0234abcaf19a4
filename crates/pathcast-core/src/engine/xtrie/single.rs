//! Single paths: eager with a set of levels a row, lazy with one climb a leaf.
//!
//! **Eager.** A row holds at a level when the row before it holds at one that fits; one word says at which levels it
//! does. The last row is not noted: when it holds, the path is found.
//!
//! **Lazy.** Only last substrings are looked at. From there the climb goes up row by row with *all* levels at which the
//! rows above may stand: the levels that fit, of those at which the row's substring was met. When none is left the path
//! is not there. The paper tries one level after the other and starts over from each; on a document that
//! repeats a name that takes time exponential in the number of `//`, the climb by sets takes one step a row.

use super::chain::{AT_ROOT, Group};
use super::levels::Levels;
use super::local::passes;
use super::run::Run;
use super::table::{NONE, PathRow};
use super::{Variant, XTrie};
use crate::engine::PathId;

impl XTrie {
    /// Tries the rows of a group whose substring was met at the innermost element.
    pub(super) fn probe_paths(&self, run: &mut Run, group: &Group, level: u32) {
        for &row in &group.rows {
            match self.options.variant {
                Variant::Eager => {
                    let holds =
                        group.key.probe == AT_ROOT || run.paths.has_above(row - 1, level, group.key.gap);
                    if holds {
                        self.hold_path(run, row, level);
                    }
                }
                Variant::Lazy => {
                    if !run.found.contains(PathId(self.table.path_row(row).completes)) {
                        self.climb(run, row, level);
                    }
                }
            }
        }
    }

    /// Eager: a row holds but for its tests.
    fn hold_path(&self, run: &mut Run, at: u32, level: u32) {
        let row = self.table.path_row(at);
        if !self.path_starts_pass(run, row, level) {
            return;
        }
        if row.completes == NONE {
            run.paths.insert(at, level);
            run.noted_paths.push(at);
        } else {
            self.complete_path(run, at, row, level);
        }
    }

    /// Lazy: the rows above a last row, by sets of levels.
    fn climb(&self, run: &mut Run, last: u32, level: u32) {
        let bottom = self.table.path_row(last);
        if !bottom.first {
            let mut levels = Levels::one(level);
            let mut at = last;
            loop {
                let below = self.table.path_row(at);
                at -= 1;
                let row = self.table.path_row(at);
                levels = levels.above(below.gap);
                levels.keep(&run.met.get(row.node, level));
                if row.tests != NONE {
                    levels.retain(|each| self.path_starts_pass(run, row, each));
                }
                if levels.is_empty() {
                    return;
                }
                if row.first {
                    if !levels.reached_by(row.gap) {
                        return;
                    }
                    break;
                }
            }
        }
        if self.path_starts_pass(run, bottom, level) {
            self.complete_path(run, last, bottom, level);
        }
    }

    fn complete_path(&self, run: &mut Run, at: u32, row: &PathRow, level: u32) {
        let waits = self.table.tests(row.tests).is_some_and(|tests| !tests.ends.is_empty());
        let path = PathId(row.completes);
        if !waits {
            run.found.add(path);
        } else if !run.found.contains(path) {
            run.wait(level, at, true);
        }
    }

    /// The innermost element ends: the tests that waited for it.
    pub(super) fn end_path(&self, run: &mut Run, at: u32) {
        let row = self.table.path_row(at);
        let Some(tests) = self.table.tests(row.tests) else { return };
        let element = run.open.element(run.level());
        if tests.ends.iter().all(|test| passes(test, &element, Some(run.open.ending()))) {
            run.found.add(PathId(row.completes));
        }
    }

    fn path_starts_pass(&self, run: &Run, row: &PathRow, level: u32) -> bool {
        row.tests == NONE || self.starts_pass(run, row.tests, level)
    }

    /// Whether the elements of a substring that ends at a level pass their tests.
    pub(super) fn starts_pass(&self, run: &Run, tests: u32, level: u32) -> bool {
        self.table.tests(tests).is_none_or(|tests| {
            tests.starts.iter().all(|test| {
                level >= test.up && passes(&test.condition, &run.open.element(level - test.up), None)
            })
        })
    }
}

//! Subtrees that patterns share, while a document runs.
//!
//! **Idea.** A subtree that is complete at an element is a branch found for every element above that fits: one bit for each
//! of those, and a place in the list of what is complete below it. At the end tag of an element all branches that can
//! be found below it are; so each subtree that waits for one of them is looked at then, and is complete if it has
//! the others too. Work is done once for a subtree and an element, however many patterns have the subtree, and a pattern
//! that lacks the branch it waits for costs nothing.
//!
//! **Cost.** One bit and one number for each subtree and open element below which it is complete.

use super::link::Link;
use super::local::passes;
use super::node::NONE;
use super::run::Run;
use super::shared::XTrie;
use pathcast_core::engine::PathId;

impl XTrie {
    /// A subtree is complete at a level.
    pub(super) fn complete_subtree(&self, run: &mut Run, at: u32, level: u32) {
        let subtree = self.table.subtrees.get(at);
        subtree.patterns.iter().for_each(|&pattern| run.found.add(PathId(pattern)));
        let lineage = self.table.lineages.get(subtree.lineage);
        if lineage.parent == NONE {
            return;
        }
        let mut above = self.above(run, subtree.lineage, level);
        above.drop(&run.complete.above(at, level, lineage.gap));
        above.iter().for_each(|each| run.note_complete(at, each));
    }

    /// A leaf is complete at a level, where the lineage above it is noted. It is no pattern by itself, so nothing but
    /// sets of levels is looked at.
    #[inline]
    pub(super) fn complete_leaf(&self, run: &mut Run, link: &Link, level: u32) {
        let mut above = run.held.above(link.parent, level, link.reach);
        above.drop(&run.complete.above(link.leaf, level, link.reach));
        above.iter().for_each(|each| run.note_complete(link.leaf, each));
    }

    /// The element at a level ends: subtrees that wait for what was found below it.
    pub(super) fn end_subtrees(&self, run: &mut Run, level: u32) {
        let Some(complete) = run.completed.get_mut(level as usize).map(std::mem::take) else { return };
        for &branch in &complete {
            for waiter in &self.table.subtrees.get(branch).waiting {
                if waiter.other == NONE || run.complete.has(waiter.other, level) {
                    self.end_subtree(run, waiter.subtree, level);
                }
            }
        }
        // What is complete at this level is noted further up alone.
        run.completed[level as usize] = complete;
    }

    fn end_subtree(&self, run: &mut Run, at: u32, level: u32) {
        let subtree = self.table.subtrees.get(at);
        let known = |&pattern: &u32| run.found.contains(PathId(pattern));
        if !subtree.patterns.is_empty() && subtree.patterns.iter().all(known)
            || !subtree.children.iter().all(|&child| run.complete.has(child, level))
        {
            return;
        }
        if subtree.ends != NONE {
            let element = run.open.element(level);
            if !self.table.ends(subtree.ends).iter().all(|test| passes(test, &element, run.open.ending())) {
                return;
            }
        }
        self.complete_subtree(run, at, level);
    }
}

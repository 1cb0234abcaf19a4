//! The prefix tree joined with the streams.

use super::IndexFilter;
use super::streams::{Interval, Streams};
use super::tree::{NodeId, ROOT};
use crate::hops::{Gap, Hop, Symbol};
use pathcast_core::engine::Found;

/// Intervals for which a frame keeps its room from one join to the next.
const KEPT: usize = 4_096;

/// A node of the prefix tree on the way to the one that is looked at, and what it is met by so far.
#[derive(Debug)]
struct Frame {
    node: NodeId,
    symbol: Symbol,
    gap: Gap,
    /// What the node is met by, in document order, as far as it was asked for.
    met: Vec<Interval>,
    /// Whether that is all.
    complete: bool,
    /// How far the stream was read.
    read: usize,
    /// How far what the node above is met by was read.
    above: usize,
    /// Of that, what contains the place reached. With an open gap the outermost is enough: what lies deep enough
    /// below an inner one does so below the outer one.
    around: Vec<Interval>,
    /// The next child to look at.
    child: usize,
}

impl Frame {
    fn new() -> Self {
        Self {
            node: ROOT,
            symbol: Symbol::ANY_ELEMENT,
            gap: Gap::new(0, true),
            met: Vec::new(),
            complete: false,
            read: 0,
            above: 0,
            around: Vec::new(),
            child: 0,
        }
    }

    fn open(&mut self, node: NodeId, hop: Hop) {
        (self.node, self.symbol, self.gap) = (node, hop.symbol, hop.gap);
        (self.complete, self.read, self.above, self.child) = (false, 0, 0, 0);
        self.met.clear();
        self.around.clear();
    }

    /// Draws the next interval that the node is met by, or says what is in the way.
    fn step(&mut self, above: &Self, stream: &[Interval]) -> Drawn {
        while let Some(&next) = stream.get(self.read) {
            if !self.surround(next.start, above) {
                return Drawn::NeedsAbove;
            }
            if self.around.is_empty() {
                // Nothing above contains it: skip to where something may.
                let Some(ahead) = above.met.get(self.above) else { break };
                self.read = skip(stream, self.read, ahead.start);
                continue;
            }
            self.read += 1;
            if self.admits(next.level) {
                self.met.push(next);
                return Drawn::One;
            }
        }
        self.complete = true;
        Drawn::None
    }

    /// Brings `around` to a place; not possible while it is not known what the node above is met by up to there.
    #[inline]
    fn surround(&mut self, place: u32, above: &Self) -> bool {
        loop {
            while self.around.last().is_some_and(|last| last.end < place) {
                self.around.pop();
            }
            if !self.gap.exact() && !self.around.is_empty() {
                return true;
            }
            match above.met.get(self.above) {
                Some(next) if next.start <= place => {
                    while self.around.last().is_some_and(|last| last.end < next.start) {
                        self.around.pop();
                    }
                    self.around.push(*next);
                    self.above += 1;
                }
                None if !above.complete => return false,
                _ => return true,
            }
        }
    }

    /// Whether one of `around` is the right number of levels above.
    #[inline]
    fn admits(&self, level: u32) -> bool {
        if !self.gap.exact() {
            return self.around.first().is_some_and(|outer| self.gap.admits(level - outer.level));
        }
        // Their levels are distinct and grow, so this looks at no more of them than the gap has levels.
        let Some(wanted) = level.checked_sub(self.gap.min()) else { return false };
        self.around
            .iter()
            .rev()
            .find(|outer| outer.level <= wanted)
            .is_some_and(|outer| outer.level == wanted)
    }
}

enum Drawn {
    One,
    None,
    NeedsAbove,
}

/// The first place in the stream, from one on, that does not start before another.
fn skip(stream: &[Interval], from: usize, start: u32) -> usize {
    let mut width = 1;
    while stream.get(from + width).is_some_and(|interval| interval.start < start) {
        width *= 2;
    }
    let (low, high) = (from + width / 2, stream.len().min(from + width));
    low + stream[low..high].partition_point(|interval| interval.start < start)
}

/// The frames, reused from one join to the next.
#[derive(Debug, Default)]
pub(super) struct Join {
    frames: Vec<Frame>,
}

impl Join {
    /// Adds every path that the streams hold.
    pub(super) fn run(&mut self, tree: &IndexFilter, streams: &Streams, found: &mut Found) {
        let document = Interval { start: 0, end: u32::MAX, level: 0, deepest: streams.deepest() };
        let root = self.frame(0);
        root.open(ROOT, Hop { symbol: Symbol::ANY_ELEMENT, gap: Gap::new(0, true) });
        root.met.push(document);
        root.complete = true;
        let mut depth = 0;
        loop {
            let frame = &mut self.frames[depth];
            let Some(&child) = tree.nodes[frame.node as usize].children.get(frame.child) else {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                continue;
            };
            frame.child += 1;
            let Hop { symbol, gap } = child.hop;
            if symbol != Symbol::ANY_ELEMENT && streams.of(symbol).is_empty() {
                continue;
            }
            let path = child.path();
            if !child.has_children() && path.is_some_and(|path| found.contains(path)) {
                continue; // by an earlier join
            }
            let met = if symbol == Symbol::ANY_ELEMENT {
                self.reaches(depth, gap.min(), streams)
            } else {
                self.frame(depth + 1).open(child.node(), child.hop);
                self.draw(depth + 1, streams)
            };
            if met {
                path.into_iter().for_each(|path| found.add(path));
                depth += usize::from(child.has_children());
            }
        }
        for frame in &mut self.frames {
            frame.met.shrink_to(KEPT);
        }
    }

    fn frame(&mut self, depth: usize) -> &mut Frame {
        if self.frames.len() <= depth {
            self.frames.push(Frame::new());
        }
        &mut self.frames[depth]
    }

    /// Draws one more interval that the node of a frame is met by, asking the frames above as needed.
    fn draw(&mut self, depth: usize, streams: &Streams) -> bool {
        let mut at = depth;
        loop {
            let (above, below) = self.frames.split_at_mut(at);
            let frame = &mut below[0];
            match frame.step(&above[at - 1], streams.of(frame.symbol)) {
                Drawn::NeedsAbove => at -= 1,
                drawn if at == depth => return matches!(drawn, Drawn::One),
                _ => at += 1,
            }
        }
    }

    /// Whether some element that the node of a frame is met by has an element so many levels below.
    fn reaches(&mut self, depth: usize, levels: u32, streams: &Streams) -> bool {
        let mut at = 0;
        loop {
            let frame = &self.frames[depth];
            if let Some(outer) = frame.met.get(at) {
                if outer.deepest - outer.level >= levels {
                    return true;
                }
                at += 1;
            } else if frame.complete || !self.draw(depth, streams) {
                return false;
            }
        }
    }
}

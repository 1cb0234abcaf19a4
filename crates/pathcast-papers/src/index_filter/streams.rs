//! The index over a document: one stream of intervals for each name.

use crate::hops::Symbol;

/// An element, or an attribute as its element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// Its place among what is indexed, in document order.
    pub(super) start: u32,
    /// The last place within it.
    pub(super) end: u32,
    pub(super) level: u32,
    /// The level of the deepest element within it.
    pub(super) deepest: u32,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where it is indexed: by name, by namespace, and by local name.
    entries: [Option<(Symbol, u32)>; 3],
    deepest: u32,
}

/// The streams, and the open elements.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// By symbol.
    streams: Vec<Vec<Interval>>,
    /// Symbols whose streams are not empty.
    touched: Vec<Symbol>,
    open: Vec<Open>,
    /// Places given.
    places: u32,
    /// Intervals in all streams.
    count: usize,
    /// The level of the deepest element of all.
    deepest: u32,
}

impl Streams {
    pub(super) fn begin(&mut self, symbols: usize) {
        self.clear();
        self.open.clear();
        self.deepest = 0;
        self.streams.resize_with(symbols, Vec::new);
    }

    fn clear(&mut self) {
        for symbol in self.touched.drain(..) {
            self.streams[symbol.index()].clear();
        }
        self.places = 0;
        self.count = 0;
    }

    #[inline]
    pub(super) fn of(&self, symbol: Symbol) -> &[Interval] {
        &self.streams[symbol.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The level of the deepest element so far.
    pub(super) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// Opens an element that is indexed as these symbols.
    #[inline]
    pub(super) fn start(&mut self, symbols: impl Iterator<Item = Symbol>) {
        let level = self.open.len() as u32 + 1;
        let mut entries = [None; 3];
        let mut place = None;
        for (entry, symbol) in entries.iter_mut().zip(symbols) {
            let start = *place.get_or_insert_with(|| {
                self.places += 1;
                self.places
            });
            *entry = Some((symbol, self.push(symbol, start, level)));
        }
        self.open.push(Open { entries, deepest: level });
    }

    /// Indexes the open element as the owner of an attribute.
    pub(super) fn attribute(&mut self, symbol: Symbol) {
        let level = self.open.len() as u32;
        // An element that is not indexed itself gets a place with its first attribute.
        let own = self.open.last().and_then(|open| open.entries[0]);
        let start = match own {
            Some((own, at)) => self.streams[own.index()][at as usize].start,
            None => {
                self.places += 1;
                self.places
            }
        };
        // Two attributes of one namespace are one entry.
        if self.streams[symbol.index()].last().is_none_or(|last| last.start != start) {
            let at = self.push(symbol, start, level);
            self.streams[symbol.index()][at as usize].end = start;
        }
    }

    fn push(&mut self, symbol: Symbol, start: u32, level: u32) -> u32 {
        let stream = &mut self.streams[symbol.index()];
        if stream.is_empty() {
            self.touched.push(symbol);
        }
        stream.push(Interval { start, end: u32::MAX, level, deepest: level });
        self.count += 1;
        stream.len() as u32 - 1
    }

    #[inline]
    pub(super) fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        for (symbol, at) in open.entries.into_iter().flatten() {
            let entry = &mut self.streams[symbol.index()][at as usize];
            entry.end = self.places;
            entry.deepest = open.deepest;
        }
        let above = self.open.last_mut().map_or(&mut self.deepest, |above| &mut above.deepest);
        *above = open.deepest.max(*above);
    }

    /// Tells the open elements how deep they reach so far.
    pub(super) fn settle(&mut self) {
        let mut deepest = 0;
        for open in self.open.iter_mut().rev() {
            deepest = open.deepest.max(deepest);
            open.deepest = deepest;
            for (symbol, at) in open.entries.into_iter().flatten() {
                self.streams[symbol.index()][at as usize].deepest = deepest;
            }
        }
        self.deepest = self.deepest.max(deepest);
    }

    /// Forgets everything but the open elements, which know themselves how deep they reach.
    pub(super) fn keep_open(&mut self) {
        self.clear();
        let mut open = std::mem::take(&mut self.open);
        for (level, each) in (1..).zip(&mut open) {
            self.places += u32::from(each.entries[0].is_some());
            let start = self.places;
            for (symbol, at) in each.entries.iter_mut().flatten() {
                *at = self.push(*symbol, start, level);
            }
        }
        self.open = open;
    }
}

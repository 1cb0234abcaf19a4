//! The shared automaton: states, edges, insertion and removal.

use std::io;

use hashbrown::HashTable;

use super::Run;
use crate::engine::{Engine, Found, PathId};
use crate::hashing::spread_pair;
use crate::image::{ImageError, Reader, Writer, flat};
use crate::names::{NameId, Resolved};
use crate::pattern::{LinearPath, NameTest, Tail};

pub(in crate::engine) type StateId = u32;

/// No state: the start state is nobody's child.
pub(super) const NONE: StateId = 0;
const START: StateId = 0;
const NO_PATH: u32 = u32::MAX;

/// What leads from a state to its child by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Symbol(u32);

impl Symbol {
    pub(super) fn element(name: NameTest) -> Self {
        Self::new(name, 0)
    }

    pub(super) fn attribute(name: NameTest) -> Self {
        Self::new(name, 2)
    }

    fn new(name: NameTest, kind: u32) -> Self {
        match name {
            // `Any` is an edge of its own for elements and number 0 for attributes.
            NameTest::Any => Self(kind),
            NameTest::Name(id) => Self(id.0 << 2 | kind),
            NameTest::Partial(id) => Self(id.0 << 2 | kind | 1),
        }
    }

    /// The name, of an element that has to have just that name.
    pub(super) fn whole_name(self) -> Option<NameId> {
        (self.0 & 3 == 0).then_some(NameId(self.0 >> 2))
    }

    pub(super) fn sketch(self) -> u64 {
        1 << ((self.0 >> 2) & 63)
    }
}

/// One state; the edges by name are in a table of their own.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// A bit for each name that leads on, the name's number modulo 64.
    pub(super) sketch: u64,
    /// Reached by any start tag.
    pub(super) star: StateId,
    /// Reached by no tag at all, and stays active below.
    pub(super) descendant: StateId,
    /// The path that ends here.
    path: u32,
    /// Children by name, `*` and `//`, and attribute edges; the highest bit says that there were attribute edges.
    children: u32,
}

flat!(State { sketch: u64, star: u32, descendant: u32, path: u32, children: u32 });

/// Like a sketch it may promise too much: it goes with the last child.
const ATTRIBUTES: u32 = 1 << 31;

impl State {
    fn new() -> Self {
        Self { sketch: 0, star: NONE, descendant: NONE, path: NO_PATH, children: 0 }
    }

    /// Whether attributes may end a path from here.
    #[inline]
    pub(super) fn has_attributes(&self) -> bool {
        self.children & ATTRIBUTES != 0
    }

    #[inline]
    pub(super) fn path(&self) -> Option<PathId> {
        (self.path != NO_PATH).then_some(PathId(self.path))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: StateId,
    pub(super) symbol: Symbol,
    pub(super) to: StateId,
}

flat!(Symbol { 0: u32 });
flat!(Edge { from: u32, symbol: Symbol, to: u32 });

/// The automaton of all paths.
#[derive(Clone, Debug)]
pub struct YFilter {
    pub(super) states: Vec<State>,
    pub(super) edges: HashTable<Edge>,
    free: Vec<StateId>,
    attribute_edges: usize,
}

impl Default for YFilter {
    fn default() -> Self {
        Self { states: vec![State::new()], edges: HashTable::new(), free: Vec::new(), attribute_edges: 0 }
    }
}

/// One move of a path through the trie.
#[derive(Clone, Copy)]
enum Move {
    Star,
    Descendant,
    Element(Symbol),
    Attribute(Symbol),
}

impl YFilter {
    /// Adds a path and tells the states that are not what they were: the last that was there, the one before it, and those
    /// whose numbers are used again.
    pub(in crate::engine) fn insert_path(
        &mut self,
        path: &LinearPath,
        id: PathId,
        mut changed: impl FnMut(StateId),
    ) {
        let (mut above, mut at, mut new) = (START, START, false);
        for step in moves(path) {
            let known = self.existing(at, step).filter(|_| !new);
            let next = known.unwrap_or_else(|| {
                if !std::mem::replace(&mut new, true) {
                    [above, at].into_iter().for_each(&mut changed);
                }
                self.free.last().copied().into_iter().for_each(&mut changed);
                self.grow(at, step)
            });
            (above, at) = (at, next);
        }
        self.states[at as usize].path = id.0;
        if !new {
            [above, at].into_iter().for_each(changed);
        }
    }

    /// Takes out a path and tells the states that are not what they were: those that went with it, the last that is still
    /// there, and the one before it.
    pub(in crate::engine) fn remove_path(
        &mut self,
        path: &LinearPath,
        id: PathId,
        mut changed: impl FnMut(StateId),
    ) {
        let mut trail = Vec::new();
        let mut at = START;
        for step in moves(path) {
            let Some(next) = self.existing(at, step) else { return };
            trail.push((at, step, next));
            at = next;
        }
        debug_assert_eq!(self.states[at as usize].path, id.0);
        self.states[at as usize].path = NO_PATH;
        changed(at);
        while let Some((from, step, to)) = trail.pop() {
            changed(from);
            let state = &self.states[to as usize];
            if state.children > 0 || state.path != NO_PATH {
                return;
            }
            self.prune(from, step, to);
        }
    }

    pub(in crate::engine) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.states)?;
        // Nearly as they will lie in the table of who reads them.
        let places = (self.edges.len() as u64 * 8 / 7).next_power_of_two() - 1;
        let mut edges: Vec<Edge> = self.edges.iter().copied().collect();
        edges.sort_unstable_by_key(|edge| (rehash(edge) & places, edge.from, edge.symbol.0));
        image.items(&edges)?;
        image.items(&self.free)?;
        image.number(self.attribute_edges)
    }

    pub(in crate::engine) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let states: Vec<State> = image.items()?;
        let all: Vec<Edge> = image.items()?;
        let mut edges = HashTable::with_capacity(all.len());
        for edge in all {
            edges.insert_unique(rehash(&edge), edge, rehash);
        }
        let opened = Self { states, edges, free: image.items()?, attribute_edges: image.number()? };
        if opened.is_tree() { Ok(opened) } else { Err(ImageError::Damaged) }
    }

    /// Whether every state is led to once at most, and the start never: then no way through them is endless.
    fn is_tree(&self) -> bool {
        let mut met = vec![false; self.states.len()];
        let by_name = self.edges.iter().map(|edge| edge.to);
        let others = self.states.iter().flat_map(|state| [state.star, state.descendant]);
        let mut once = by_name.chain(others.filter(|&to| to != NONE)).all(|to| {
            let known = met.get_mut(to as usize).filter(|_| to != START);
            known.is_some_and(|known| !std::mem::replace(known, true))
        });
        once &= self.edges.iter().all(|edge| (edge.from as usize) < self.states.len());
        once && !self.states.is_empty()
    }

    #[inline]
    pub(super) fn child(&self, from: StateId, symbol: Symbol) -> Option<StateId> {
        self.edges
            .find(hash(from, symbol), |edge| edge.from == from && edge.symbol == symbol)
            .map(|edge| edge.to)
    }

    fn existing(&self, from: StateId, step: Move) -> Option<StateId> {
        let state = &self.states[from as usize];
        match step {
            Move::Star => (state.star != NONE).then_some(state.star),
            Move::Descendant => (state.descendant != NONE).then_some(state.descendant),
            Move::Element(symbol) | Move::Attribute(symbol) => self.child(from, symbol),
        }
    }

    fn grow(&mut self, from: StateId, step: Move) -> StateId {
        let fresh = State::new();
        let to = match self.free.pop() {
            Some(id) => {
                self.states[id as usize] = fresh;
                id
            }
            None => {
                self.states.push(fresh);
                (self.states.len() - 1) as StateId
            }
        };
        let state = &mut self.states[from as usize];
        state.children += 1;
        match step {
            Move::Star => state.star = to,
            Move::Descendant => state.descendant = to,
            Move::Element(symbol) => {
                state.sketch |= symbol.sketch();
                self.edges.insert_unique(hash(from, symbol), Edge { from, symbol, to }, rehash);
            }
            Move::Attribute(symbol) => {
                state.children |= ATTRIBUTES;
                self.attribute_edges += 1;
                self.edges.insert_unique(hash(from, symbol), Edge { from, symbol, to }, rehash);
            }
        }
        to
    }

    /// Cuts off a child that nothing needs any more. The sketch keeps its bit: it may promise too much, never too
    /// little.
    fn prune(&mut self, from: StateId, step: Move, to: StateId) {
        let state = &mut self.states[from as usize];
        state.children -= 1;
        match step {
            Move::Star => state.star = NONE,
            Move::Descendant => state.descendant = NONE,
            Move::Element(symbol) | Move::Attribute(symbol) => {
                if matches!(step, Move::Attribute(_)) {
                    self.attribute_edges -= 1;
                }
                let edge = self
                    .edges
                    .find_entry(hash(from, symbol), |edge| edge.from == from && edge.symbol == symbol);
                if let Ok(edge) = edge {
                    edge.remove();
                }
            }
        }
        if state.children & !ATTRIBUTES == 0 {
            state.children = 0;
            state.sketch = 0;
        }
        self.free.push(to);
    }
}

impl Engine for YFilter {
    type Run = Run;

    fn new_run(&self, _cache_bytes: usize) -> Run {
        Run::default()
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.insert_path(path, id, |_| {});
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        self.remove_path(path, id, |_| {});
    }

    fn begin(&self, run: &mut Run) {
        run.begin(self);
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.start(self, element, attributes, found);
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        run.end();
    }

    fn settle(&mut self) {
        self.states.shrink_to_fit();
    }

    fn wants_attributes(&self) -> bool {
        self.attribute_edges > 0
    }

    fn memory_bytes(&self) -> usize {
        self.states.capacity() * size_of::<State>()
            + self.edges.allocation_size()
            + self.free.capacity() * size_of::<StateId>()
    }
}

/// The moves of a path: a gap of k levels is k-1 times `*`, and `//` when it may be longer.
fn moves(path: &LinearPath) -> impl Iterator<Item = Move> + '_ {
    let gap = |levels: u32, exact: bool| {
        std::iter::repeat_n(Move::Star, levels as usize).chain((!exact).then_some(Move::Descendant))
    };
    let steps = path.steps.iter().flat_map(move |step| {
        gap(step.min - 1, step.exact).chain([Move::Element(Symbol::element(step.name))])
    });
    let tail = match path.tail {
        Tail::End => gap(0, true).chain(None),
        Tail::Wild(levels) => gap(levels, true).chain(None),
        Tail::Attribute { min, exact, name } => {
            gap(min, exact).chain(Some(Move::Attribute(Symbol::attribute(name))))
        }
    };
    steps.chain(tail)
}

fn hash(from: StateId, symbol: Symbol) -> u64 {
    spread_pair(from, symbol.0)
}

fn rehash(edge: &Edge) -> u64 {
    hash(edge.from, edge.symbol)
}

//! The distinct linear paths: each has one number in the engine, however many expressions look for it.

use std::collections::VecDeque;
use std::io;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::expression::{ExpressionId, VACANT};
use crate::engine::{AnyEngine, Takes, Trees};
use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer, flat};
use crate::packed::{Finder, Packed};
use crate::pattern::{
    Condition, FilteredPath, LinearPath, PathId, as_filtered, as_linear, decode_condition, encode_condition,
};

/// So many paths of which something changed are remembered.
const TOUCHED: usize = 64;

/// Starts the key of a path with filters; the key of no linear path starts like this.
const FILTERED: [u8; 2] = [0x80, 0];

/// The key of the path that a condition is, filters included, if it is one. Equal paths have equal keys, however the
/// condition says it.
pub(super) fn filtered_key(condition: &Condition) -> Option<Box<[u8]>> {
    let path = as_filtered(condition)?;
    let canonical = path.to_condition();
    if let Some(linear) = as_linear(&canonical) {
        return Some(linear.to_bytes());
    }
    let mut key = FILTERED.to_vec();
    encode_condition(&canonical, &mut key);
    // Only what is read back as the same: nesting is bounded there.
    (filtered_path(&key)? == path).then(|| key.into())
}

/// The path with filters that has this key.
fn filtered_path(key: &[u8]) -> Option<FilteredPath> {
    let mut condition = filtered_condition(key)?;
    as_filtered(&decode_condition(&mut condition, usize::MAX).ok()?)
}

/// The condition in the key of a path with filters, as bytes.
pub(super) fn filtered_condition(key: &[u8]) -> Option<&[u8]> {
    key.strip_prefix(&FILTERED)
}

/// The condition that the path with a key is.
pub(super) fn path_condition(mut key: &[u8]) -> Condition {
    let condition = match filtered_condition(key) {
        Some(mut filtered) => decode_condition(&mut filtered, usize::MAX),
        None => LinearPath::decode(&mut key, usize::MAX).map(|path| path.to_condition()),
    };
    condition.unwrap_or(Condition::False)
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The expression that is just this path.
    expression: ExpressionId,
    /// That expression, and the candidates that wait for the path.
    users: u32,
}

flat!(Entry { expression: u32, users: u32 });

/// All distinct linear paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    /// By number: the path as bytes; nothing of what the engine took as a whole.
    keys: Packed,
    entries: Vec<Entry>,
    finder: Finder,
    waiting: FxHashMap<PathId, Vec<ExpressionId>>,
    /// How often what follows from a path has changed, and the last paths of which it did.
    touches: u64,
    touched: VecDeque<PathId>,
    /// Room for one path.
    read: LinearPath,
}

impl Paths {
    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.entries.len()
    }

    /// The expression that is just this path.
    #[inline]
    pub(super) fn expression(&self, path: PathId) -> Option<ExpressionId> {
        let expression = self.entries[path.0 as usize].expression;
        (expression != VACANT).then_some(expression)
    }

    /// Something else follows from a path now.
    fn touch(&mut self, path: PathId) {
        self.touches += 1;
        self.touched.push_back(path);
        if self.touched.len() > TOUCHED {
            self.touched.pop_front();
        }
    }

    /// How often what follows from a path has changed.
    pub(super) fn touches(&self) -> u64 {
        self.touches
    }

    /// The paths of which something else follows since there were so many touches; nothing if they are not remembered.
    pub(super) fn touched_since(&self, touches: u64) -> Option<impl Iterator<Item = PathId>> {
        let missed = usize::try_from(self.touches.checked_sub(touches)?).ok()?;
        let first = self.touched.len().checked_sub(missed)?;
        Some(self.touched.iter().skip(first).copied())
    }

    pub(super) fn set_expression(&mut self, path: PathId, expression: ExpressionId) {
        self.touch(path);
        self.entries[path.0 as usize].expression = expression;
    }

    /// The expressions that become candidates when the path is found.
    #[inline]
    pub(super) fn waiting(&self, path: PathId) -> &[ExpressionId] {
        if self.waiting.is_empty() {
            return &[];
        }
        self.waiting.get(&path).map_or(&[], Vec::as_slice)
    }

    pub(super) fn wait(&mut self, path: PathId, expression: ExpressionId) {
        self.touch(path);
        self.waiting.entry(path).or_default().push(expression);
    }

    /// The number of a path given as bytes, with one more user; a new one goes to the engine.
    pub(super) fn intern(&mut self, key: &[u8], engine: &mut dyn AnyEngine) -> PathId {
        let place = hash(key);
        let known = self.finder.table(|| self.make()).find(place, |&id| self.keys.get(id) == key);
        if let Some(&id) = known {
            self.entries[id as usize].users += 1;
            return PathId(id);
        }
        let id = self.enter(key, VACANT);
        let keys = &self.keys;
        if let Some(table) = self.finder.made() {
            table.insert_unique(place, id, |&id| hash(keys.get(id)));
        }
        if let Some(path) = filtered_path(key) {
            if let Takes::Filters(filters) = engine.takes() {
                filters.insert_filtered(&path, PathId(id));
            }
        } else if self.read.decode_from(&mut &*key, usize::MAX).is_ok() {
            engine.insert(&self.read, PathId(id));
        }
        PathId(id)
    }

    /// A number for a path with one user.
    fn enter(&mut self, key: &[u8], expression: ExpressionId) -> u32 {
        let (id, entry) = (self.keys.insert(key), Entry { expression, users: 1 });
        match self.entries.get_mut(id as usize) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        id
    }

    #[cold]
    fn make(&self) -> HashTable<u32> {
        let ids = self.keys.ids().filter(|&id| !self.keys.get(id).is_empty());
        Finder::of(self.keys.len(), ids, |id| hash(self.keys.get(id)))
    }

    /// A number for a condition that the engine takes as a whole, for the expression that it is.
    pub(super) fn take(
        &mut self,
        condition: &Condition,
        expression: ExpressionId,
        trees: &mut dyn Trees,
    ) -> Option<PathId> {
        let id = self.keys.next();
        if !trees.insert_tree(condition, PathId(id)) {
            return None;
        }
        self.enter(&[], expression);
        self.touch(PathId(id));
        Some(PathId(id))
    }

    /// The expression that the engine took as a whole is gone.
    pub(super) fn release_taken(&mut self, path: PathId, engine: &mut dyn AnyEngine) {
        self.touch(path);
        self.entries[path.0 as usize].expression = VACANT;
        self.keys.remove(path.0);
        if let Takes::Trees(trees) = engine.takes() {
            trees.remove_tree(path);
        }
    }

    /// One user less of a path that has others.
    pub(super) fn release_user(&mut self, path: PathId) {
        self.entries[path.0 as usize].users -= 1;
    }

    /// The expression that was just this path is gone.
    pub(super) fn release_expression(&mut self, path: PathId, engine: &mut dyn AnyEngine) {
        self.touch(path);
        self.entries[path.0 as usize].expression = VACANT;
        self.release(path, engine);
    }

    /// An expression no longer waits for the path.
    pub(super) fn release_waiting(
        &mut self,
        path: PathId,
        expression: ExpressionId,
        engine: &mut dyn AnyEngine,
    ) {
        self.touch(path);
        if let Some(waiting) = self.waiting.get_mut(&path) {
            if let Some(at) = waiting.iter().position(|&each| each == expression) {
                waiting.swap_remove(at);
            }
            if waiting.is_empty() {
                self.waiting.remove(&path);
            }
        }
        self.release(path, engine);
    }

    /// One user less; the last takes the path out.
    pub(super) fn release(&mut self, path: PathId, engine: &mut dyn AnyEngine) {
        let entry = &mut self.entries[path.0 as usize];
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let key = self.keys.get(path.0);
        self.finder.remove(|| hash(key), path.0);
        if let Some(filtered) = filtered_path(key) {
            if let Takes::Filters(filters) = engine.takes() {
                filters.remove_filtered(&filtered, path);
            }
        } else if let Ok(linear) = LinearPath::decode(&mut &*key, usize::MAX) {
            engine.remove(&linear, path);
        }
        self.keys.remove(path.0);
    }

    /// The path as bytes.
    pub(super) fn key(&self, path: PathId) -> &[u8] {
        self.keys.get(path.0)
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.keys.store(image)?;
        image.items(&self.entries)?;
        let mut waiting: Vec<_> = self.waiting.iter().collect();
        waiting.sort_unstable_by_key(|(path, _)| **path);
        image.number(waiting.len())?;
        image.each(waiting.iter().map(|(path, _)| **path))?;
        image.lists(waiting.iter().map(|(_, list)| list.as_slice()))
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let (keys, entries) = (Packed::opened(image)?, image.items()?);
        let waiting: Vec<PathId> = image.items()?;
        let waiting = waiting.into_iter().zip(image.lists()?).collect();
        Ok(Self { keys, entries, finder: Finder::later(), waiting, ..Self::default() })
    }

    /// So many more may come, if all are new.
    pub(super) fn reserve(&mut self, more: usize) {
        let keys = &self.keys;
        if let Some(table) = self.finder.made() {
            table.reserve(more, |&id| hash(keys.get(id)));
        }
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.entries.shrink_to_fit();
        self.keys.settle();
        let keys = &self.keys;
        if let Some(table) = self.finder.made().filter(|table| 2 * table.len() < table.capacity()) {
            table.shrink_to_fit(|&id| hash(keys.get(id)));
        }
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let waiting: usize = self.waiting.values().map(|list| list.capacity() * 4 + 40).sum();
        waiting
            + self.keys.memory_bytes()
            + self.entries.capacity() * size_of::<Entry>()
            + self.finder.memory_bytes()
    }
}

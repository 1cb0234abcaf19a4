//! The places of each expression's subscriptions.
//!
//! Most expressions have one, which takes four bytes. A longer list keeps the places of those who left until they are too
//! many, and is not sorted: leaving, coming back and changing the expression cost the same however many there are. A place
//! counts while the roster says that it subscribes to the expression.

use std::io;

use super::chunks::Chunks;
use super::expression::ExpressionId;
use super::places::Slot;
use crate::image::{ImageError, Reader, Writer};

/// Nobody subscribes.
const NOBODY: u32 = u32::MAX;
/// Marks the number of a list; without it, it is the place of the only one.
const LIST: u32 = 1 << 31;

/// Places by expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Fanout {
    entries: Chunks<u32>,
    lists: Chunks<List, 64>,
    free: Vec<u32>,
}

/// A list of places, perhaps with some that left.
#[derive(Clone, Debug, Default)]
struct List {
    slots: Vec<Slot>,
    live: usize,
}

impl Fanout {
    /// Makes room for an expression.
    pub(super) fn reserve(&mut self, expression: ExpressionId) {
        while self.entries.len() <= expression as usize {
            self.entries.push(NOBODY);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many subscribe.
    #[inline]
    pub(super) fn count(&self, expression: ExpressionId) -> usize {
        self.counted(*self.entries.get(expression))
    }

    #[inline]
    fn counted(&self, entry: u32) -> usize {
        match entry {
            NOBODY => 0,
            entry if entry & LIST == 0 => 1,
            entry => self.lists.get(entry & !LIST).live,
        }
    }

    /// How many subscribe to one of several.
    pub(super) fn total(&self, expressions: &[ExpressionId]) -> usize {
        let mut entries = self.entries.in_order();
        expressions.iter().map(|&expression| self.counted(*entries.get(expression))).sum()
    }

    /// Hands over the places of those who subscribe to one of several, some at a time and each once, in the order of the
    /// expressions; `here` tells who of a place and an expression belong together.
    #[inline]
    pub(super) fn each(
        &self,
        expressions: &[ExpressionId],
        here: impl Fn(Slot, ExpressionId) -> bool,
        mut take: impl FnMut(&[Slot]),
    ) {
        let mut entries = self.entries.in_order();
        for &expression in expressions {
            match *entries.get(expression) {
                NOBODY => {}
                slot if slot & LIST == 0 => take(&[slot]),
                entry => {
                    let List { slots: list, live } = self.lists.get(entry & !LIST);
                    if list.len() == *live {
                        take(list);
                    } else {
                        let mut still: Vec<Slot> =
                            list.iter().copied().filter(|&slot| here(slot, expression)).collect();
                        // Who left and came back is in the list twice.
                        still.sort_unstable();
                        still.dedup();
                        take(&still);
                    }
                }
            }
        }
    }

    /// One more subscribes.
    pub(super) fn join(&mut self, expression: ExpressionId, slot: Slot) {
        let entry = *self.entries.get(expression);
        if entry == NOBODY {
            *self.entries.get_mut(expression) = slot;
        } else if entry & LIST == 0 {
            let list = List { slots: vec![entry, slot], live: 2 };
            let number = match self.free.pop() {
                Some(number) => {
                    *self.lists.get_mut(number) = list;
                    number
                }
                None => {
                    self.lists.push(list);
                    (self.lists.len() - 1) as u32
                }
            };
            *self.entries.get_mut(expression) = number | LIST;
        } else {
            let list = self.lists.get_mut(entry & !LIST);
            list.slots.push(slot);
            list.live += 1;
        }
    }

    /// One less subscribes; `here` tells who still does.
    pub(super) fn leave(&mut self, expression: ExpressionId, here: impl Fn(Slot) -> bool) {
        let entry = *self.entries.get(expression);
        if entry & LIST != 0 && entry != NOBODY {
            let list = self.lists.get_mut(entry & !LIST);
            list.live -= 1;
            if list.slots.len() > 2 * list.live + 16 {
                list.slots.retain(|&slot| here(slot));
                list.slots.sort_unstable();
                list.slots.dedup();
            }
            if list.live > 0 {
                return;
            }
            *list = List::default();
            self.free.push(entry & !LIST);
        }
        *self.entries.get_mut(expression) = NOBODY;
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.entries.store(image)?;
        let lists: Vec<&List> = self.lists.iter().collect();
        image.lists(lists.iter().map(|list| list.slots.as_slice()))?;
        image.each(lists.iter().map(|list| list.live as u64))?;
        image.items(&self.free)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let (entries, mut lists) = (Chunks::opened(image)?, Chunks::default());
        for slots in image.lists()? {
            lists.push(List { slots, live: 0 });
        }
        for number in 0..lists.len() as u32 {
            lists.get_mut(number).live = image.number()?;
        }
        Ok(Self { entries, lists, free: image.items()? })
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.lists.iter().map(|list| list.slots.capacity() * size_of::<Slot>()).sum::<usize>()
            + self.entries.memory_bytes()
            + self.lists.memory_bytes()
            + self.free.capacity() * size_of::<u32>()
    }
}

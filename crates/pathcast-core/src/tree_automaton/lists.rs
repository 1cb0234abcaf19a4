//! Rules by the atom that they wait for.
//!
//! To follow a document is to go from list to list. When keys are chosen all lists are packed into one array, those of
//! the atoms that are so most often first, so that what documents need lies together. A list that changes later moves
//! out until keys are chosen again.

use std::io;

use super::atoms::AtomId;
use super::rules::{RuleId, Waiting};
use crate::image::{ImageError, Reader, Writer, flat};

const LOOSE: u32 = u32::MAX;

/// Where the list of an atom is: so many in the array, or [`LOOSE`] and its number.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    from: u32,
    len: u32,
}

flat!(Head { from: u32, len: u32 });

/// Those who wait, by atom.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    heads: Vec<Head>,
    packed: Vec<Waiting>,
    loose: Vec<Vec<Waiting>>,
    free: Vec<u32>,
}

impl Lists {
    /// All lists, packed in the order given. Each entry is told its atom and goes to the end of that atom's list; `put`
    /// is told the place there.
    pub(super) fn pack(
        atoms: usize,
        order: &[(AtomId, u32)],
        waiting: impl Iterator<Item = (AtomId, Waiting)>,
        mut put: impl FnMut(Waiting, u32),
    ) -> Self {
        let mut heads = vec![Head::default(); atoms];
        let mut total = 0;
        for &(atom, len) in order {
            heads[atom as usize].from = total;
            total += len;
        }
        let mut packed = vec![Waiting::NOBODY; total as usize];
        for (atom, each) in waiting {
            let head = &mut heads[atom as usize];
            packed[(head.from + head.len) as usize] = each;
            put(each, head.len);
            head.len += 1;
        }
        Self { heads, packed, loose: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(super) fn of(&self, atom: AtomId) -> &[Waiting] {
        match self.heads.get(atom as usize) {
            None => &[],
            Some(&Head { from, len: LOOSE }) => &self.loose[from as usize],
            Some(&Head { from, len }) => &self.packed[from as usize..(from + len) as usize],
        }
    }

    pub(super) fn get_mut(&mut self, atom: AtomId, place: u32) -> &mut Waiting {
        match self.heads[atom as usize] {
            Head { from, len: LOOSE } => &mut self.loose[from as usize][place as usize],
            Head { from, .. } => &mut self.packed[(from + place) as usize],
        }
    }

    /// One more; its place.
    pub(super) fn push(&mut self, atom: AtomId, waiting: Waiting) -> u32 {
        if self.heads.len() <= atom as usize {
            self.heads.resize(atom as usize + 1, Head::default());
        }
        if self.heads[atom as usize].len != LOOSE {
            let list = self.of(atom).to_vec();
            let from = super::put(&mut self.loose, &mut self.free, list);
            self.heads[atom as usize] = Head { from, len: LOOSE };
        }
        let list = &mut self.loose[self.heads[atom as usize].from as usize];
        list.push(waiting);
        (list.len() - 1) as u32
    }

    /// Takes one out; the last of the list takes its place and is told.
    pub(super) fn swap_remove(&mut self, atom: AtomId, place: u32) -> Option<RuleId> {
        let Self { heads, packed, loose, free } = self;
        let head = &mut heads[atom as usize];
        let moved = if head.len == LOOSE {
            let list = &mut loose[head.from as usize];
            list.swap_remove(place as usize);
            let moved = list.get(place as usize).copied();
            if list.is_empty() {
                *list = Vec::new();
                free.push(head.from);
                *head = Head::default();
            }
            moved
        } else {
            head.len -= 1;
            packed.swap((head.from + place) as usize, (head.from + head.len) as usize);
            (place < head.len).then(|| packed[(head.from + place) as usize])
        };
        moved.map(Waiting::rule)
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.items(&self.heads)?;
        image.items(&self.packed)?;
        image.lists(self.loose.iter().map(Vec::as_slice))?;
        image.items(&self.free)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        Ok(Self {
            heads: image.items()?,
            packed: image.items()?,
            loose: image.lists()?,
            free: image.items()?,
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let loose: usize = self.loose.iter().map(|list| list.capacity() * size_of::<Waiting>()).sum();
        loose
            + self.heads.capacity() * size_of::<Head>()
            + self.packed.capacity() * size_of::<Waiting>()
            + self.loose.capacity() * size_of::<Vec<Waiting>>()
            + self.free.capacity() * 4
    }
}

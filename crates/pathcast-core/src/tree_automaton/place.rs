//! Where something is asked: a document node, or elements of some name.

use std::io;

use rustc_hash::FxHashMap;

use super::rules::Waiting;
use super::subjects::{Leaf, SubjectId};
use crate::image::{Flat, ImageError, Reader, Writer, flat};
use crate::names::Resolved;
use crate::pattern::NameTest;

/// The document node or a test of an element's name, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At(u32);

flat!(At { 0: u32 });

impl At {
    pub(super) const DOCUMENT: Self = Self(u32::MAX);
    pub(super) const ANY: Self = Self(u32::MAX - 1);
    const PARTIAL: u32 = 1 << 31;

    pub(super) fn element(name: NameTest) -> Self {
        match name {
            NameTest::Any => Self::ANY,
            NameTest::Name(id) => Self(id.0),
            NameTest::Partial(id) => Self(id.0 | Self::PARTIAL),
        }
    }

    /// The tests of one part of a name that it passes, as far as any subscription asks them.
    #[inline]
    pub(super) fn partials_of(name: Resolved) -> impl Iterator<Item = Self> {
        name.partials().map(|id| Self(id.0 | Self::PARTIAL))
    }

    /// Whether an element of this name is meant.
    #[inline]
    pub(super) fn accepts(self, name: Resolved) -> bool {
        self.0 == name.name.0 || self == Self::ANY || Self::partials_of(name).any(|partial| self == partial)
    }
}

/// The kinds that one node is of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ats {
    kinds: [Option<At>; 4],
}

impl Ats {
    /// Those of an element of this name, or of the document node.
    #[inline]
    pub(super) fn of(name: Option<Resolved>) -> Self {
        let Some(name) = name else { return Self { kinds: [Some(At::DOCUMENT), None, None, None] } };
        let mut partials = At::partials_of(name);
        Self { kinds: [Some(At(name.name.0)), Some(At::ANY), partials.next(), partials.next()] }
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = At> {
        self.kinds.into_iter().flatten()
    }
}

/// A subject that ends at elements of one name, with the element above that it asks for first: most do not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asker {
    /// So many levels up.
    pub(super) up: u32,
    pub(super) at: At,
    pub(super) subject: SubjectId,
}

flat!(Asker { up: u32, at: At, subject: u32 });

/// What is asked of elements of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Who asks, sorted by what of the element they look at.
    askers: Vec<(Leaf, Asker)>,
    /// Rules that wait for no test.
    pub(super) always: Vec<Waiting>,
    /// Whether the string-value, text nodes, and attributes of other than one name are asked for.
    pub(super) own: bool,
    pub(super) text: bool,
    pub(super) wild: bool,
}

impl Asked {
    pub(super) fn insert(&mut self, leaf: Leaf, asker: Asker) {
        let place = self.askers.partition_point(|each| *each < (leaf, asker));
        self.askers.insert(place, (leaf, asker));
        self.sum_up();
    }

    pub(super) fn remove(&mut self, leaf: Leaf, asker: Asker) {
        if let Ok(place) = self.askers.binary_search(&(leaf, asker)) {
            self.askers.remove(place);
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        self.own = !self.by(Leaf::Own).is_empty();
        self.text = !self.by(Leaf::Text).is_empty();
        self.wild = !self.wild().is_empty();
    }

    /// Those who look at the same of the element.
    #[inline]
    fn by(&self, leaf: Leaf) -> &[(Leaf, Asker)] {
        let from = self.askers.partition_point(|&(each, _)| each < leaf);
        let len = self.askers[from..].partition_point(|&(each, _)| each == leaf);
        &self.askers[from..from + len]
    }

    /// Those who look at attributes of a namespace, of a local part or of any name.
    pub(super) fn wild(&self) -> &[(Leaf, Asker)] {
        let from = self.askers.partition_point(|&(each, _)| each < Leaf::Wild(NameTest::Any));
        &self.askers[from..]
    }

    /// Reports who looks at this of an element with such a parent, and perhaps others.
    #[inline]
    pub(super) fn asking(&self, leaf: Leaf, parent: &Ats, mut report: impl FnMut(Asker)) {
        let all = self.by(leaf);
        if all.len() <= 8 {
            all.iter().for_each(|&(_, asker)| report(asker));
            return;
        }
        let here = all.partition_point(|(_, asker)| asker.up == 0);
        let near = here + all[here..].partition_point(|(_, asker)| asker.up == 1);
        all[..here].iter().chain(&all[near..]).for_each(|&(_, asker)| report(asker));
        for at in parent.iter() {
            let from = here + all[here..near].partition_point(|(_, asker)| asker.at < at);
            all[from..near]
                .iter()
                .take_while(|(_, asker)| asker.at == at)
                .for_each(|&(_, asker)| report(asker));
        }
    }

    fn is_empty(&self) -> bool {
        self.askers.is_empty() && self.always.is_empty()
    }

    fn memory_bytes(&self) -> usize {
        self.askers.capacity() * size_of::<(Leaf, Asker)>() + self.always.capacity() * size_of::<Waiting>()
    }
}

/// What is asked, by where.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    named: Vec<Option<Box<Asked>>>,
    partial: FxHashMap<u32, Box<Asked>>,
    any: Option<Box<Asked>>,
    document: Option<Box<Asked>>,
}

impl Places {
    /// What is asked of exactly these, to be changed.
    pub(super) fn change<T>(&mut self, at: At, change: impl FnOnce(&mut Asked) -> T) -> T {
        if at.0 & At::PARTIAL != 0 && at != At::ANY && at != At::DOCUMENT {
            let asked = self.partial.entry(at.0).or_default();
            let changed = change(asked);
            if asked.is_empty() {
                self.partial.remove(&at.0);
            }
            return changed;
        }
        let slot = match at {
            At::DOCUMENT => &mut self.document,
            At::ANY => &mut self.any,
            At(name) => {
                let needed = self.named.len().max(name as usize + 1);
                self.named.resize_with(needed, || None);
                &mut self.named[name as usize]
            }
        };
        let asked = slot.get_or_insert_with(Box::default);
        let changed = change(asked);
        if asked.is_empty() {
            *slot = None;
        }
        changed
    }

    pub(super) fn document(&self) -> Option<&Asked> {
        self.document.as_deref()
    }

    /// What is asked of an element of this name.
    #[inline]
    pub(super) fn of(&self, name: Resolved) -> impl Iterator<Item = &Asked> {
        let named = self.named.get(name.name.0 as usize).and_then(Option::as_deref);
        let partial = At::partials_of(name).filter_map(|at| self.partial.get(&at.0)).map(|asked| &**asked);
        named.into_iter().chain(partial).chain(self.any.as_deref())
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        let named = (0..).zip(&self.named).filter_map(|(name, asked)| Some((At(name), asked.as_deref()?)));
        let mut partial: Vec<_> = self.partial.iter().map(|(&at, asked)| (At(at), &**asked)).collect();
        partial.sort_unstable_by_key(|&(at, _)| at);
        let any = self.any.as_deref().map(|asked| (At::ANY, asked));
        let document = self.document.as_deref().map(|asked| (At::DOCUMENT, asked));
        let all: Vec<(At, &Asked)> = named.chain(partial).chain(any).chain(document).collect();
        image.number(all.len())?;
        for (at, asked) in all {
            image.one(&at)?;
            image.items(&asked.askers)?;
            image.items(&asked.always)?;
        }
        Ok(())
    }

    pub(super) fn opened(image: &mut Reader<'_>, names: usize) -> Result<Self, ImageError> {
        let mut places = Self::default();
        for _ in 0..image.count(At::SIZE)? {
            let at: At = image.one()?;
            if at.0 & At::PARTIAL == 0 && at.0 as usize >= names {
                return Err(ImageError::Damaged);
            }
            let mut read = Asked { askers: image.items()?, always: image.items()?, ..Asked::default() };
            read.sum_up();
            places.change(at, |asked| *asked = read);
        }
        Ok(places)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let all = self.named.iter().flatten().chain(self.partial.values());
        let all = all.chain(&self.any).chain(&self.document);
        all.map(|asked| asked.memory_bytes() + size_of::<Asked>()).sum::<usize>()
            + self.named.capacity() * size_of::<usize>()
            + self.partial.capacity() * 13
    }
}

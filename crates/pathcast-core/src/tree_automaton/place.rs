//! Where something is asked: a document node, or elements of some name.

use rustc_hash::FxHashMap;

use super::rules::Waiting;
use super::subjects::SubjectId;
use crate::names::{NameId, Resolved};
use crate::pattern::NameTest;

/// The document node or a test of an element's name, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At(u32);

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

/// A subject that ends at elements of one name, with the element above that it asks for first: most do not have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) subject: SubjectId,
    /// So many levels up.
    pub(super) up: u32,
    pub(super) at: At,
}

/// What is asked of elements of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Whether there is such an element.
    pub(super) here: Vec<Asker>,
    /// Its own string-value.
    pub(super) own: Vec<Asker>,
    /// Its text nodes.
    pub(super) text: Vec<Asker>,
    /// Its attributes of one name, sorted by that.
    pub(super) attributes: Vec<(NameId, Asker)>,
    /// Its attributes of any name or of a namespace.
    pub(super) wild: Vec<(NameTest, Asker)>,
    /// Rules that wait for no test.
    pub(super) always: Vec<Waiting>,
}

impl Asked {
    /// Who asks for attributes of this name by name.
    #[inline]
    pub(super) fn attribute(&self, name: NameId) -> impl Iterator<Item = Asker> {
        let from = self.attributes.partition_point(|&(each, _)| each < name);
        self.attributes[from..].iter().take_while(move |&&(each, _)| each == name).map(|&(_, asker)| asker)
    }

    fn is_empty(&self) -> bool {
        self.here.is_empty()
            && self.own.is_empty()
            && self.text.is_empty()
            && self.attributes.is_empty()
            && self.wild.is_empty()
            && self.always.is_empty()
    }

    fn memory_bytes(&self) -> usize {
        (self.here.capacity() + self.own.capacity() + self.text.capacity()) * size_of::<Asker>()
            + self.attributes.capacity() * size_of::<(NameId, Asker)>()
            + self.wild.capacity() * size_of::<(NameTest, Asker)>()
            + self.always.capacity() * size_of::<Waiting>()
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

    pub(super) fn memory_bytes(&self) -> usize {
        let all = self.named.iter().flatten().chain(self.partial.values());
        let all = all.chain(&self.any).chain(&self.document);
        all.map(|asked| asked.memory_bytes() + size_of::<Asked>()).sum::<usize>()
            + self.named.capacity() * size_of::<usize>()
            + self.partial.capacity() * 13
    }
}

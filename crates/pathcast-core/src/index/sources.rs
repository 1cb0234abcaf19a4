//! Expressions as written, each once however many subscribe to it; those that the normal form says word for word are not
//! kept.

use std::io;

use super::normal_form::NormalForm;
use crate::image::{ImageError, Reader, Writer};
use crate::names::Names;
use crate::packed::PackedInterner;
use crate::pattern::{LinearPath, NameTest, Tail, Written};

/// The number of an expression as written.
pub(super) type SourceId = u32;

/// It is not kept how it was written: as the normal form is, or it comes from a file that does not say.
pub(super) const UNKNOWN: SourceId = SourceId::MAX;

/// The expressions as written, as bytes.
#[derive(Default)]
pub(super) struct Sources(PackedInterner);

impl Sources {
    /// The number of one, to be given back with [`Sources::release`].
    pub(super) fn intern(&mut self, written: Option<&[u8]>) -> SourceId {
        written.map_or(UNKNOWN, |bytes| self.0.intern(bytes))
    }

    pub(super) fn release(&mut self, id: SourceId) {
        if id != UNKNOWN {
            self.0.release(id);
        }
    }

    /// The bytes of one, if it is known.
    pub(super) fn bytes(&self, id: SourceId) -> Option<&[u8]> {
        (id != UNKNOWN).then(|| self.0.get(id))
    }

    /// Gives back room that was kept for growth.
    pub(super) fn settle(&mut self) {
        self.0.settle();
    }

    /// One as it was written, if that is known.
    pub(super) fn get(&self, id: SourceId) -> Option<Written> {
        Written::from_bytes(self.bytes(id)?).ok()
    }

    pub(super) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.0.store(image)
    }

    pub(super) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        Ok(Self(PackedInterner::opened(image, false)?))
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// An expression as written, as bytes; nothing if it is what the normal form is printed as.
pub(super) fn to_keep(written: &Written, form: &NormalForm, names: &Names) -> Option<Box<[u8]>> {
    let plain = !written.ordered && written.namespaces.is_empty() && written.variables.is_empty();
    (!plain || !says(form, &written.xpath, names)).then(|| written.to_bytes())
}

/// Whether a normal form is a path of elements, and printed as this text.
fn says(form: &NormalForm, mut text: &str, names: &Names) -> bool {
    let NormalForm::Linear(key) = form else { return false };
    let Ok(LinearPath { steps, tail }) = LinearPath::decode(&mut &**key, usize::MAX) else {
        return false;
    };
    for step in steps {
        let NameTest::Name(name) = step.name else { return false };
        let ("", local) = names.parts(name) else { return false };
        let axis = if step.exact { "/" } else { "//" };
        let rest = without_wildcards(text, step.min - 1).and_then(|rest| rest.strip_prefix(axis));
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(local)) else { return false };
        text = rest;
    }
    match tail {
        Tail::End => text.is_empty(),
        Tail::Wild(levels) => without_wildcards(text, levels) == Some(""),
        Tail::Attribute { .. } => false,
    }
}

/// What follows so many steps to any element.
fn without_wildcards(text: &str, levels: u32) -> Option<&str> {
    (0..levels).try_fold(text, |text, _| text.strip_prefix("/*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Id, Index, Settings};

    #[test]
    fn every_expression_is_told_as_it_was_written_and_plain_ones_take_no_room() {
        let plain =
            ["/a", "//a", "/a/b//c", "//ab//a/b", "/a//b/c.d", "/a/*", "/*//b", "/*/*/a/*/*", "/*", "/*/*"];
        let others = ["a", "//*/a", "/a/@b", "/a[b]/c", " /a", "/a/child::b", "/a | /b", "/", "/a//*", "//*"];
        let mut index = Index::new(Settings::default());
        for (number, xpath) in (0..).zip(plain.iter().chain(&others)) {
            index.add(Id::Number(number), xpath, false, &Vec::new()).unwrap();
            let kept = index.subscribers.sources.0.len();
            assert_eq!(kept, (number as usize + 1).saturating_sub(plain.len()), "{xpath}");
        }
        index.add(Id::Number(99), "/a", true, &Vec::new()).unwrap();
        for (number, xpath) in (0..).zip(plain.iter().chain(&others)) {
            assert_eq!(index.written(&Id::Number(number)), Some(Written::new(xpath, false, &Vec::new())));
        }
        assert_eq!(index.written(&Id::Number(99)), Some(Written::new("/a", true, &Vec::new())));
    }
}

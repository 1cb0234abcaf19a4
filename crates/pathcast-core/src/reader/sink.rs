//! What the reader tells whoever listens.

use super::attributes::Slot;

/// A namespace URI by its number within one document; numbers are given in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UriId(pub u32);

impl UriId {
    /// No namespace.
    pub const NONE: Self = Self(0);
    /// `http://www.w3.org/XML/1998/namespace`, bound to `xml` in every document.
    pub const XML: Self = Self(1);
}

/// One attribute, its value normalised; namespace declarations are no attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Its namespace.
    pub uri: UriId,
    /// Its name without prefix.
    pub local: &'a str,
    /// Its value.
    pub value: &'a str,
    /// Whether its value identifies the element: it is declared so, or it is `xml:id`.
    pub id: bool,
}

/// A start tag with its names resolved.
pub struct StartTag<'a> {
    /// The element's namespace.
    pub uri: UriId,
    /// The element's name without prefix.
    pub local: &'a str,
    /// The element's prefix, or nothing.
    pub prefix: &'a str,
    /// Where each attribute's name and value are, in `tag` or in `scratch`.
    pub(super) slots: &'a [Slot],
    /// The tag as it is written.
    pub(super) tag: &'a str,
    /// What had to be rewritten: values with references or line ends, attributes by default.
    pub(super) scratch: &'a str,
    /// Whether it stands in the document itself, and not in the text of an entity.
    pub(super) placed: bool,
}

impl<'a> StartTag<'a> {
    /// The attributes in document order, then those that the internal subset gives by default.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let (tag, scratch) = (self.tag, self.scratch);
        self.slots.iter().map(move |slot| {
            let local = slot.local(tag, scratch);
            let id = slot.id || slot.uri == UriId::XML && local == "id";
            Attribute { uri: slot.uri, local, value: slot.value(tag, scratch), id }
        })
    }

    /// The value of the attribute at a place.
    pub fn value(&self, at: usize) -> &'a str {
        self.slots.get(at).map_or("", |slot| slot.value(self.tag, self.scratch))
    }

    /// The prefixes of the attributes, in their order; nothing for those without.
    pub fn prefixes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (tag, scratch) = (self.tag, self.scratch);
        self.slots.iter().map(move |slot| slot.prefix(tag, scratch).unwrap_or(""))
    }

    /// Where each attribute is written, counted from the start of the element's name: from its name to behind its value.
    /// Nothing for one that the internal subset gives by default, or that stands in the text of an entity.
    pub fn spans(&self) -> impl Iterator<Item = Option<(usize, usize)>> + use<'a> {
        let (tag, placed) = (self.tag, self.placed);
        self.slots.iter().map(move |slot| {
            let start = slot.start_in_tag().filter(|_| placed)?;
            let value = start + memchr::memchr2(b'"', b'\'', &tag.as_bytes()[start..])?;
            let quote = tag.as_bytes()[value];
            let length = memchr::memchr(quote, &tag.as_bytes()[value + 1..])?;
            Some((start, value + length + 2))
        })
    }

    /// How many attributes there are.
    pub fn attribute_count(&self) -> usize {
        self.slots.len()
    }
}

/// Receives the events of one document in order.
///
/// A document may turn out to be malformed after any of these: what was gathered then counts for nothing.
pub trait Sink {
    /// Whether `text`, `comment` and `instruction` are wanted. Without them the reader checks but does not decode.
    /// Asked once, at the start of each document.
    fn wants_text(&self) -> bool;
    /// Where the next event is in the clean text, if the document is read as a whole.
    #[inline]
    fn token(&mut self, start: u64, end: u64) {
        let _ = (start, end);
    }
    /// Announces a namespace URI before its number is first used; `NONE` and `XML` are not announced.
    fn namespace(&mut self, id: UriId, uri: &str);
    /// A start tag; an empty-element tag is followed by `end` at once.
    fn start(&mut self, tag: &StartTag<'_>);
    /// Why the document must not go on, asked after each start tag: it breaks a schema.
    fn refusal(&mut self) -> Option<String> {
        None
    }
    /// The end of the innermost open element.
    fn end(&mut self);
    /// A piece of text, never empty; pieces with no other event between them are one XPath text node. White space
    /// outside the root element is not text.
    fn text(&mut self, text: &str);
    /// A comment, also outside the root element, but not within a DOCTYPE.
    fn comment(&mut self, text: &str);
    /// A processing instruction, also outside the root element, but not within a DOCTYPE; the XML declaration is none.
    fn instruction(&mut self, target: &str, data: &str);
}

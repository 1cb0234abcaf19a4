//! The inside of a start tag: its name and its attributes, scanned from the raw text.
//!
//! Every attribute becomes a [`Slot`] of offsets; a value that reads as it is written is never copied. Values with
//! references, tabs or line ends are rewritten into one scratch string per tag. Buffers are kept from tag to tag.
//!
//! Cost: linear in the tag.

use super::duplicates::{Duplicates, fingerprint};
use super::entities::Expansion;
use super::error::Fault;
use super::references;
use super::sink::UriId;
use crate::chars::{QName, is_space, qname, quoted, skip_space};
use crate::limits::Limits;

/// Where one attribute is. Offsets are into the tag or into the scratch string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) uri: UriId,
    name: u32,
    pub(super) local: u32,
    pub(super) name_end: u32,
    value: u32,
    value_end: u32,
    name_in_scratch: bool,
    value_in_scratch: bool,
    /// Whether it is declared as an ID.
    pub(super) id: bool,
}

impl Slot {
    /// The name as it is written, prefix included.
    #[inline]
    pub(super) fn name<'a>(&self, tag: &'a str, scratch: &'a str) -> &'a str {
        let text = if self.name_in_scratch { scratch } else { tag };
        &text[self.name as usize..self.name_end as usize]
    }

    /// The name without its prefix.
    #[inline]
    pub(super) fn local<'a>(&self, tag: &'a str, scratch: &'a str) -> &'a str {
        let text = if self.name_in_scratch { scratch } else { tag };
        &text[self.local as usize..self.name_end as usize]
    }

    /// The prefix, if there is one.
    #[inline]
    pub(super) fn prefix<'a>(&self, tag: &'a str, scratch: &'a str) -> Option<&'a str> {
        if self.local == self.name {
            return None;
        }
        let text = if self.name_in_scratch { scratch } else { tag };
        Some(&text[self.name as usize..self.local as usize - 1])
    }

    /// The normalised value.
    #[inline]
    pub(super) fn value<'a>(&self, tag: &'a str, scratch: &'a str) -> &'a str {
        let text = if self.value_in_scratch { scratch } else { tag };
        &text[self.value as usize..self.value_end as usize]
    }

    /// Where its name starts in the tag; an attribute by default has no place there.
    pub(super) fn start_in_tag(&self) -> Option<usize> {
        (!self.name_in_scratch).then_some(self.name as usize)
    }

    /// Where to point at when something is wrong with it; an attribute by default has no place in the tag.
    pub(super) fn place(&self) -> usize {
        if self.name_in_scratch { 0 } else { self.name as usize }
    }
}

/// The attributes of the tag scanned last.
#[derive(Default)]
pub(super) struct Attributes {
    /// All attributes but namespace declarations.
    pub(super) slots: Vec<Slot>,
    /// Namespace declarations: `xmlns` and `xmlns:...`.
    pub(super) declarations: Vec<Slot>,
    /// Rewritten names and values.
    pub(super) scratch: String,
    /// Finds what is given twice.
    duplicates: Duplicates,
}

/// A start tag, its attributes aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanned {
    pub(super) name: QName,
    /// Where `>`, `/>` or the end of the text is.
    pub(super) end: usize,
}

/// Bytes of an attribute value that need a look.
const fn value_stops() -> [bool; 256] {
    let mut stops = [false; 256];
    stops[b'"' as usize] = true;
    stops[b'\'' as usize] = true;
    stops[b'<' as usize] = true;
    stops[b'&' as usize] = true;
    stops[b'\t' as usize] = true;
    stops[b'\n' as usize] = true;
    stops
}

static VALUE_STOPS: [bool; 256] = value_stops();

impl Attributes {
    /// Gives back what a document with huge tags made grow.
    pub(super) fn release(&mut self, kept_bytes: usize) {
        self.scratch.clear();
        self.scratch.shrink_to(kept_bytes);
        self.slots.clear();
        self.slots.shrink_to(kept_bytes / size_of::<Slot>());
        self.declarations.clear();
        self.declarations.shrink_to(kept_bytes / size_of::<Slot>());
    }

    /// Scans what stands behind `<`, and finds where the tag ends: before `>`, before `/>`, or with the text. Offsets
    /// count from its start. Without `entities` those that a document declares are faults.
    #[inline]
    pub(super) fn scan(
        &mut self,
        tag: &str,
        limits: &Limits,
        entities: Option<&mut Expansion>,
    ) -> Result<Scanned, Fault> {
        self.slots.clear();
        self.declarations.clear();
        self.scratch.clear();
        let name = scan_name(tag, 0, limits)?;
        let end = match tag.as_bytes().get(name.end) {
            None | Some(b'>') => name.end,
            Some(_) => self.scan_attributes(tag, name.end, limits, entities)?,
        };
        Ok(Scanned { name, end })
    }

    /// The attributes from behind the element's name on; returns where the tag ends.
    fn scan_attributes(
        &mut self,
        tag: &str,
        from: usize,
        limits: &Limits,
        mut entities: Option<&mut Expansion>,
    ) -> Result<usize, Fault> {
        // offsets are 32 bits wide, and the scratch string may come to hold every value twice
        if tag.len() > 1 << 30 {
            return Err(Fault::limit(0, "a tag may not be longer than 1 GiB"));
        }
        let bytes = tag.as_bytes();
        let mut at = from;
        // one bit for each name met: while no bit is met twice, no name is
        let (mut met, mut again) = (0u64, 0u64);
        loop {
            let start = skip_space(bytes, at);
            if matches!(bytes[start..], [] | [b'>', ..] | [b'/', b'>', ..]) {
                at = start;
                break;
            }
            if start == at {
                return Err(no_space(tag, at, at == from));
            }
            if self.slots.len() + self.declarations.len() == limits.attributes {
                return Err(too_many(start, limits));
            }
            let name = scan_name(tag, start, limits)?;
            let bit = fingerprint(&bytes[start..name.end]);
            again |= met & bit;
            met |= bit;
            at = self.scan_attribute(tag, start, name, limits, entities.as_deref_mut())?;
        }
        if again != 0 {
            self.duplicates.refuse(&self.slots, tag)?;
            self.duplicates.refuse(&self.declarations, tag)?;
        }
        Ok(at)
    }

    /// The rest of an attribute after its name; returns where it ends.
    #[inline]
    fn scan_attribute(
        &mut self,
        tag: &str,
        start: usize,
        name: QName,
        limits: &Limits,
        entities: Option<&mut Expansion>,
    ) -> Result<usize, Fault> {
        let bytes = tag.as_bytes();
        let equals = skip_space(bytes, name.end);
        if bytes.get(equals) != Some(&b'=') {
            let reason = format!("attribute \"{}\" has no value", quoted(&tag[start..name.end]));
            return Err(Fault::malformed(equals, reason));
        }
        let open = skip_space(bytes, equals + 1);
        let quote = match bytes.get(open) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => {
                let reason =
                    format!("the value of attribute \"{}\" must be in quotes", quoted(&tag[start..name.end]));
                return Err(Fault::malformed(open, reason));
            }
        };
        let value = open + 1;
        let mut end = value;
        let rewritten = loop {
            match bytes.get(end) {
                Some(&byte) if !VALUE_STOPS[byte as usize] => end += 1,
                Some(&byte) if byte == quote => break None,
                Some(b'"' | b'\'') => end += 1,
                _ => {
                    let begins = self.scratch.len();
                    end = rewrite_value(tag, value, end, quote, limits, entities, &mut self.scratch)?;
                    break Some(begins);
                }
            }
        };
        let (value, value_end) = match rewritten {
            Some(begins) => (begins, self.scratch.len()),
            None => (value, end),
        };
        let slot = Slot {
            uri: UriId::NONE,
            name: start as u32,
            local: name.local as u32,
            name_end: name.end as u32,
            value: value as u32,
            value_end: value_end as u32,
            name_in_scratch: false,
            value_in_scratch: rewritten.is_some(),
            id: false,
        };
        if declares_namespace(&tag[start..name.end]) {
            self.declarations.push(slot);
        } else {
            self.slots.push(slot);
        }
        Ok(end + 1)
    }

    /// Refuses two attributes with different prefixes but the same namespace and local name. Run after resolving.
    pub(super) fn refuse_expanded_duplicates(&mut self, tag: &str) -> Result<(), Fault> {
        self.duplicates.refuse_expanded(&self.slots, tag, &self.scratch)
    }

    /// Adds an attribute that the internal subset gives by default. The name is known to be a qualified name.
    pub(super) fn add_default(&mut self, name: &str, value: &str, id: bool) {
        let from = self.scratch.len() as u32;
        self.scratch.push_str(name);
        let name_end = self.scratch.len() as u32;
        self.scratch.push_str(value);
        let slot = Slot {
            uri: UriId::NONE,
            name: from,
            local: name.find(':').map_or(from, |colon| from + colon as u32 + 1),
            name_end,
            value: name_end,
            value_end: self.scratch.len() as u32,
            name_in_scratch: true,
            value_in_scratch: true,
            id,
        };
        if declares_namespace(name) {
            self.declarations.push(slot);
        } else {
            self.slots.push(slot);
        }
    }

    /// Gives an attribute the value that its declared type asks for: no spaces at either end, none doubled.
    pub(super) fn collapse_spaces(slot: &mut Slot, tag: &str, scratch: &mut String) {
        let value = slot.value(tag, scratch);
        if !(value.starts_with(' ') || value.ends_with(' ') || value.contains("  ")) {
            return;
        }
        let mut collapsed = String::with_capacity(value.len());
        for word in value.split(' ').filter(|word| !word.is_empty()) {
            if !collapsed.is_empty() {
                collapsed.push(' ');
            }
            collapsed.push_str(word);
        }
        slot.value = scratch.len() as u32;
        scratch.push_str(&collapsed);
        slot.value_end = scratch.len() as u32;
        slot.value_in_scratch = true;
    }
}

/// `xmlns`, or a name with the prefix `xmlns`.
#[inline]
fn declares_namespace(name: &str) -> bool {
    name.strip_prefix("xmlns").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// A qualified name within the limit.
#[inline]
fn scan_name(tag: &str, from: usize, limits: &Limits) -> Result<QName, Fault> {
    match qname(tag, from) {
        Ok(name) if name.end - from <= limits.name_bytes => Ok(name),
        Ok(_) => Err(long_name(from, limits)),
        Err(not) => Err(no_name(tag, from, not.at, limits)),
    }
}

#[cold]
fn no_name(tag: &str, from: usize, at: usize, limits: &Limits) -> Fault {
    if at - from > limits.name_bytes {
        return long_name(from, limits);
    }
    match tag[at..].chars().next() {
        None if at == from => Fault::malformed(at, "a name is missing"),
        None => Fault::malformed(at, "a name may not end with a colon"),
        Some('<') => Fault::malformed(at, "\"<\" may not stand in a tag; write &lt;"),
        Some(':') => Fault::malformed(at, "a name may hold one colon, between two parts"),
        Some(c) => Fault::malformed(at, format!("a name cannot start with \"{}\"", c.escape_debug())),
    }
}

#[cold]
pub(super) fn long_name(at: usize, limits: &Limits) -> Fault {
    Fault::limit(at, format!("a name is longer than the limit of {} bytes", limits.name_bytes))
}

#[cold]
pub(super) fn too_many(at: usize, limits: &Limits) -> Fault {
    Fault::limit(at, format!("an element has more attributes than the limit of {}", limits.attributes))
}

#[cold]
fn no_space(tag: &str, at: usize, after_name: bool) -> Fault {
    match tag[at..].chars().next() {
        Some('<') => Fault::malformed(at, "\"<\" may not stand in a tag; write &lt;"),
        Some(c) if after_name => Fault::malformed(at, format!("a name cannot hold \"{}\"", c.escape_debug())),
        _ => Fault::malformed(at, "white space must stand between attributes"),
    }
}

/// Rewrites a value from `from` on, clean up to `at`, and returns where its closing quote is.
///
/// A literal tab or line end becomes a space; one written as a character reference stays what it is.
pub(super) fn rewrite_value(
    text: &str,
    from: usize,
    at: usize,
    quote: u8,
    limits: &Limits,
    mut entities: Option<&mut Expansion>,
    out: &mut String,
) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let (mut from, mut at) = (from, at);
    loop {
        match bytes.get(at) {
            Some(&byte) if !VALUE_STOPS[byte as usize] => at += 1,
            Some(&byte) if byte == quote => {
                out.push_str(&text[from..at]);
                return Ok(at);
            }
            Some(&byte) if is_space(byte) => {
                out.push_str(&text[from..at]);
                out.push(' ');
                at += 1;
                from = at;
            }
            Some(b'&') => {
                out.push_str(&text[from..at]);
                let name = at + 1;
                // a reference ends before the value does, so a stray `&` never makes the search quadratic
                let length = memchr::memchr3(b';', quote, b'&', &bytes[name..]).unwrap_or(bytes.len() - name);
                if bytes.get(name + length) != Some(&b';') {
                    return Err(unfinished_reference(text, at, name + length));
                }
                let name_end = name + length;
                match (references::resolve(&text[name..name_end], at)?, entities.as_deref_mut()) {
                    (Some(c), _) => out.push(c),
                    (None, Some(entities)) => entities.write_value(&text[name..name_end], at, limits, out)?,
                    (None, None) => return Err(Fault::malformed(at, "an entity is not expanded here")),
                }
                at = name + length + 1;
                from = at;
            }
            Some(b'<') => {
                return Err(Fault::malformed(at, "\"<\" may not stand in an attribute value; write &lt;"));
            }
            Some(_) => at += 1,
            None => return Err(Fault::malformed(at, "an attribute value has no closing quote")),
        }
    }
}

#[cold]
fn unfinished_reference(text: &str, at: usize, end: usize) -> Fault {
    // at the very end the reference may have been cut off with the document
    let at = if end == text.len() { end } else { at };
    Fault::malformed(at, "\"&\" must start a reference such as &amp;; a literal \"&\" is written &amp;")
}

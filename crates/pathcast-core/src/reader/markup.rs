//! What a token means at its place in the document, and whether it may stand there.
//!
//! The tokeniser hands over tokens, one after another, from memory or from a stream; here every rule of XML 1.0 and of
//! Namespaces 1.0 that it does not keep is kept. Faults say how many bytes after the start of the token they are.

use quick_xml::events::Event;

use super::attributes::{Attributes, Scanned, long_name};
use super::declaration;
use super::doctype::{self, Defaults};
use super::encoding::Detected;
use super::entities::{Entities, Expansion};
use super::error::{DocumentErrorKind, Fault};
use super::namespaces::Namespaces;
use super::references;
use super::sink::{Sink, StartTag, UriId};
use super::tokens;
use crate::chars::{QName, is_space, ncname, skip_space};
use crate::limits::Limits;

/// A scratch buffer grown beyond this is not kept for the next document.
pub(super) const KEPT_BYTES: usize = 1 << 20;

/// How far the document has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Prolog,
    /// After the DOCTYPE, before the root element.
    Declared,
    /// In the root element.
    Content,
    Epilog,
}

/// The state of the document that is being read.
pub(super) struct Markup {
    limits: Limits,
    stage: Stage,
    /// Open elements.
    depth: usize,
    wants_text: bool,
    standalone: bool,
    /// What the bytes say about the encoding; `None` when the text was decoded by somebody else.
    detected: Option<Detected>,
    attributes: Attributes,
    namespaces: Namespaces,
    defaults: Defaults,
    entities: Expansion,
}

impl Markup {
    pub(super) fn new(limits: Limits, entities: Entities) -> Self {
        Self {
            limits,
            stage: Stage::Prolog,
            depth: 0,
            wants_text: true,
            standalone: false,
            detected: None,
            attributes: Attributes::default(),
            namespaces: Namespaces::new(),
            defaults: Defaults::default(),
            entities: Expansion::new(entities),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Gets ready for the next document.
    pub(super) fn begin(&mut self, detected: Option<Detected>, wants_text: bool) {
        self.stage = Stage::Prolog;
        self.depth = 0;
        self.wants_text = wants_text;
        self.standalone = false;
        self.detected = detected;
        self.namespaces.restart();
        self.attributes.release(KEPT_BYTES);
        self.entities.begin();
        if !self.defaults.is_empty() {
            self.defaults = Defaults::default();
        }
    }

    /// A token that starts `offset` bytes into the clean text. A DOCTYPE goes to [`Markup::doctype`] instead.
    #[inline]
    pub(super) fn handle<S: Sink>(
        &mut self,
        event: &Event<'_>,
        offset: u64,
        sink: &mut S,
    ) -> Result<(), Fault> {
        match event {
            Event::Start(tag) => self.start(tag, offset, sink),
            Event::End(_) => {
                self.end(sink);
                Ok(())
            }
            Event::Text(text) => self.text(text, sink),
            Event::Empty(tag) => {
                self.start(tag, offset, sink)?;
                self.end(sink);
                Ok(())
            }
            Event::GeneralRef(name) => self.reference(name, offset, sink),
            Event::CData(text) => self.cdata(text, sink),
            Event::Comment(text) => self.comment(text, sink),
            Event::PI(text) => self.instruction(text, sink),
            Event::Decl(text) => self.declaration(text, offset),
            Event::DocType(_) | Event::Eof => Ok(()),
        }
    }

    /// The end of the text: whether the document is whole.
    pub(super) fn finish(&self, length: u64) -> Result<(), Fault> {
        match self.stage {
            Stage::Epilog => Ok(()),
            Stage::Content => {
                let plural = if self.depth == 1 { "element is" } else { "elements are" };
                Err(Fault::malformed(0, format!("the document ends while {} {plural} open", self.depth)))
            }
            Stage::Prolog if length == 0 => Err(Fault::malformed(0, "the document is empty")),
            _ => Err(Fault::malformed(0, "the document has no root element")),
        }
    }

    fn start<S: Sink>(&mut self, tag: &str, offset: u64, sink: &mut S) -> Result<(), Fault> {
        self.enter()?;
        self.entities.at_token(offset);
        let scanned = self.attributes.scan(tag, &self.limits, Some(&mut self.entities));
        // offsets within the tag count from behind its `<`
        scanned
            .and_then(|scanned| self.start_tag(tag, scanned.name, offset, sink))
            .map_err(|fault| fault.later(1))
    }

    /// Scans a start tag of which only the beginning is known, from behind its `<`. Nothing if anything is wrong or
    /// unusual: then it is for [`Markup::handle`] to say.
    #[inline]
    pub(super) fn scan_ahead(&mut self, rest: &str) -> Option<Scanned> {
        self.attributes.scan(rest, &self.limits, None).ok()
    }

    /// The tag that was scanned ahead.
    #[inline]
    pub(super) fn start_scanned<S: Sink>(
        &mut self,
        tag: &str,
        name: QName,
        offset: u64,
        sink: &mut S,
    ) -> Result<(), Fault> {
        self.enter()?;
        self.start_tag(tag, name, offset, sink).map_err(|fault| fault.later(1))
    }

    /// One element more is open.
    #[inline]
    fn enter(&mut self) -> Result<(), Fault> {
        if self.depth == 0 {
            if self.stage == Stage::Epilog {
                return Err(Fault::malformed(0, "a document has one root element; this is a second one"));
            }
            self.stage = Stage::Content;
        }
        if self.depth >= self.limits.depth {
            let reason = format!("elements are nested deeper than the limit of {}", self.limits.depth);
            return Err(Fault::limit(0, reason));
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn start_tag<S: Sink>(
        &mut self,
        tag: &str,
        element: QName,
        offset: u64,
        sink: &mut S,
    ) -> Result<(), Fault> {
        if !self.defaults.is_empty() {
            self.defaults.apply(&tag[..element.end], tag, &mut self.attributes, &self.limits, offset)?;
        }
        if !self.attributes.declarations.is_empty() {
            self.declare(tag, sink)?;
        }
        let uri = match element.local {
            0 => self.namespaces.default,
            local => self.namespaces.resolve(&tag[..local - 1], 0)?,
        };
        if !self.attributes.slots.is_empty() {
            self.resolve_attributes(tag)?;
        }
        sink.start(&StartTag {
            uri,
            local: &tag[element.local..element.end],
            prefix: &tag[..element.local.saturating_sub(1)],
            slots: &self.attributes.slots,
            tag,
            scratch: &self.attributes.scratch,
            placed: !self.entities.is_open(),
        });
        match sink.refusal() {
            Some(reason) => Err(Fault::new(DocumentErrorKind::Invalid, 0, reason)),
            None => Ok(()),
        }
    }

    #[cold]
    fn declare<S: Sink>(&mut self, tag: &str, sink: &mut S) -> Result<(), Fault> {
        self.namespaces.open(self.depth);
        let Attributes { declarations, scratch, .. } = &self.attributes;
        for slot in declarations {
            let prefix = slot.prefix(tag, scratch).map(|_| slot.local(tag, scratch));
            self.namespaces.declare(prefix, slot.value(tag, scratch), slot.place(), sink)?;
        }
        Ok(())
    }

    #[inline]
    fn resolve_attributes(&mut self, tag: &str) -> Result<(), Fault> {
        let Attributes { slots, scratch, .. } = &mut self.attributes;
        let mut prefixed = 0;
        for slot in slots {
            if let Some(prefix) = slot.prefix(tag, scratch) {
                slot.uri = self.namespaces.resolve(prefix, slot.place())?;
                prefixed += usize::from(slot.uri != UriId::NONE);
            }
        }
        if prefixed > 1 { self.attributes.refuse_expanded_duplicates(tag) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn end<S: Sink>(&mut self, sink: &mut S) {
        self.namespaces.close(self.depth);
        self.depth -= 1;
        if self.depth == 0 {
            self.stage = Stage::Epilog;
        }
        sink.end();
    }

    /// Text.
    pub(super) fn text<S: Sink>(&mut self, text: &str, sink: &mut S) -> Result<(), Fault> {
        if self.depth > 0
            && let Some(at) = cdata_end(text.as_bytes())
        {
            return Err(Fault::malformed(at, "\"]]>\" may not stand in text; write ]]&gt;"));
        }
        self.plain_text(text, sink)
    }

    /// Text without `>`.
    #[inline]
    pub(super) fn plain_text<S: Sink>(&mut self, text: &str, sink: &mut S) -> Result<(), Fault> {
        if self.depth == 0 {
            return self.outside(text);
        }
        if self.wants_text {
            sink.text(text);
        }
        Ok(())
    }

    /// Text outside the root element may only be white space.
    fn outside(&self, text: &str) -> Result<(), Fault> {
        match text.bytes().position(|byte| !is_space(byte)) {
            None => Ok(()),
            Some(at) => Err(self.stray(at)),
        }
    }

    #[cold]
    fn stray(&self, at: usize) -> Fault {
        let place = if self.stage == Stage::Epilog { "after" } else { "before" };
        Fault::malformed(at, format!("text is not allowed {place} the root element"))
    }

    /// A reference in text.
    pub(super) fn reference<S: Sink>(&mut self, name: &str, offset: u64, sink: &mut S) -> Result<(), Fault> {
        if self.depth == 0 {
            return Err(self.stray(0));
        }
        let Some(c) = references::resolve(name, 0)? else { return self.entity(name, offset, sink) };
        if self.wants_text {
            sink.text(c.encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    /// Goes on with the text of an entity in the place of its reference.
    #[cold]
    fn entity<S: Sink>(&mut self, name: &str, offset: u64, sink: &mut S) -> Result<(), Fault> {
        self.entities.at_token(offset);
        let text = self.entities.open(name, 0, &self.limits)?;
        let read = self.replacement(&text, offset, sink);
        self.entities.close();
        read.map_err(|fault| fault.within(name))
    }

    fn replacement<S: Sink>(&mut self, text: &str, offset: u64, sink: &mut S) -> Result<(), Fault> {
        let depth = self.depth;
        let mut tokens = quick_xml::Reader::from_str(text);
        loop {
            let start = tokens.buffer_position() as usize;
            match tokens.read_event() {
                Ok(Event::Eof) if self.depth == depth => return Ok(()),
                Ok(Event::Eof) => {
                    return Err(Fault::malformed(0, "an element that begins in it does not end in it"));
                }
                Ok(Event::DocType(_)) => {
                    return Err(Fault::malformed(0, "a DOCTYPE may not stand in an entity"));
                }
                Ok(event) => self.handle(&event, offset.max(1), sink)?,
                Err(error) => return Err(tokens::explain(&error, &text[start..], true, self)),
            }
        }
    }

    fn cdata<S: Sink>(&mut self, text: &str, sink: &mut S) -> Result<(), Fault> {
        if self.depth == 0 {
            return Err(Fault::malformed(0, "a CDATA section is not allowed outside the root element"));
        }
        if self.wants_text && !text.is_empty() {
            sink.text(text);
        }
        Ok(())
    }

    fn comment<S: Sink>(&mut self, text: &str, sink: &mut S) -> Result<(), Fault> {
        if let Some(at) = double_hyphen(text) {
            return Err(Fault::malformed("<!--".len() + at, "\"--\" may not stand in a comment"));
        }
        if self.wants_text {
            sink.comment(text);
        }
        Ok(())
    }

    fn instruction<S: Sink>(&mut self, text: &str, sink: &mut S) -> Result<(), Fault> {
        let end = target(text, &self.limits).map_err(|fault| fault.later("<?".len()))?;
        if self.wants_text {
            let data = skip_space(text.as_bytes(), end);
            sink.instruction(&text[..end], &text[data..]);
        }
        Ok(())
    }

    fn declaration(&mut self, text: &str, offset: u64) -> Result<(), Fault> {
        if offset > 0 {
            return Err(Fault::malformed(0, "an XML declaration may only stand at the very start"));
        }
        self.checked_declaration(text).map_err(|fault| fault.later("<?".len()))
    }

    fn checked_declaration(&mut self, text: &str) -> Result<(), Fault> {
        let declaration = declaration::parse(text)?;
        self.standalone = declaration.standalone;
        match self.detected.take() {
            Some(detected) => detected.agrees_with(declaration.encoding.as_ref()),
            None => Ok(()),
        }
    }

    /// A whole `<!DOCTYPE ...>`.
    pub(super) fn doctype(&mut self, raw: &str) -> Result<(), Fault> {
        match self.stage {
            Stage::Prolog => self.stage = Stage::Declared,
            Stage::Declared => {
                return Err(Fault::malformed(0, "a document has one DOCTYPE; this is a second one"));
            }
            _ => return Err(Fault::malformed(0, "a DOCTYPE may only stand before the root element")),
        }
        doctype::parse(raw, self.standalone, &self.limits, &mut self.defaults, &mut self.entities)
    }

    /// What is wrong in a start tag that the document ends in; a fault at its end means only that it is not closed.
    pub(super) fn scan_unfinished(&mut self, tag: &str) -> Result<(), Fault> {
        self.attributes.scan(tag, &self.limits, Some(&mut self.entities)).map(|_| ())
    }
}

/// The offset of `]]>`.
#[inline]
fn cdata_end(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    // `>` is rare in text
    while let Some(length) = memchr::memchr(b'>', &text[from..]) {
        let at = from + length;
        if text[..at].ends_with(b"]]") {
            return Some(at - 2);
        }
        from = at + 1;
    }
    None
}

/// The offset of `--`, or of a hyphen before the end, which would make one with it.
pub(super) fn double_hyphen(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memmem::find(bytes, b"--").or_else(|| bytes.ends_with(b"-").then(|| bytes.len() - 1))
}

/// The end of the target of a processing instruction.
fn target(text: &str, limits: &Limits) -> Result<usize, Fault> {
    let end =
        ncname(text, 0).map_err(|not| Fault::malformed(not.at, "a processing instruction needs a target"))?;
    if end > limits.name_bytes {
        return Err(long_name(0, limits));
    }
    if text[..end].eq_ignore_ascii_case("xml") {
        return Err(Fault::malformed(0, "the target \"xml\" is reserved"));
    }
    match text.as_bytes().get(end) {
        Some(b':') => {
            Err(Fault::malformed(end, "the target of a processing instruction may not hold a colon"))
        }
        Some(&byte) if !is_space(byte) => {
            Err(Fault::malformed(end, "white space must follow the target of a processing instruction"))
        }
        _ => Ok(end),
    }
}

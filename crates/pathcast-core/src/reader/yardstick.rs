//! What speed is measured against: how fast the XML can be read at all.

use quick_xml::events::Event;

use super::{DocumentError, Reader, Sink, StartTag, UriId};

/// The elements that quick-xml alone counts in a document, with none of the checks that make a reader strict.
///
/// It counts up to the first error, because what it cannot read is not its task to explain.
pub fn bare_elements(document: &[u8]) -> u64 {
    let mut reader = quick_xml::Reader::from_reader(document);
    let mut elements = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Start(_) | Event::Empty(_)) => elements += 1,
            Ok(Event::Eof) | Err(_) => return elements,
            Ok(event) => {
                std::hint::black_box(event);
            }
        }
    }
}

/// The elements that the strict reader counts.
///
/// # Errors
/// The document is refused.
pub fn strict_elements(reader: &mut Reader, document: &[u8]) -> Result<u64, DocumentError> {
    let mut count = Count(0);
    reader.read_bytes(document, &mut count)?;
    Ok(count.0)
}

/// Counts, and does nothing else.
struct Count(u64);

impl Sink for Count {
    fn wants_text(&self) -> bool {
        false
    }

    fn namespace(&mut self, _: UriId, _: &str) {}

    fn start(&mut self, _: &StartTag<'_>) {
        self.0 += 1;
    }

    fn end(&mut self) {}

    fn text(&mut self, _: &str) {}

    fn comment(&mut self, _: &str) {}

    fn instruction(&mut self, _: &str, _: &str) {}
}

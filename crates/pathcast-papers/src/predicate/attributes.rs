//! The attributes of the open elements, names and values, one after another.

use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, passes};

/// Bytes that buffers keep from one document to the next.
pub(super) const KEPT_BYTES: usize = 1 << 20;

/// Attributes of open elements.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    names: Vec<Resolved>,
    /// Where each value ends in `text`.
    ends: Vec<usize>,
    text: String,
    /// By element: where its attributes start.
    elements: Vec<usize>,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
        self.text.clear();
        self.text.shrink_to(KEPT_BYTES);
        self.elements.clear();
    }

    /// The values of the element that starts next.
    pub(super) fn announce<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        self.ends.truncate(self.names.len());
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        for value in values {
            self.text.push_str(value);
            self.ends.push(self.text.len());
        }
    }

    /// An element starts; its values have been announced.
    pub(super) fn start(&mut self, names: &[Resolved]) {
        self.elements.push(self.names.len());
        self.names.extend_from_slice(names);
        self.ends.resize(self.names.len(), self.text.len());
    }

    /// It ends.
    pub(super) fn end(&mut self) {
        if let Some(start) = self.elements.pop() {
            self.names.truncate(start);
            self.ends.truncate(start);
            self.text.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }

    fn range(&self, element: usize) -> (usize, usize) {
        let end = self.elements.get(element + 1).copied().unwrap_or(self.names.len());
        (self.elements[element], end)
    }

    fn value(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }

    /// The attributes of the element that started last.
    pub(super) fn last(&self) -> impl Iterator<Item = (Resolved, &str)> {
        let start = self.elements.last().copied().unwrap_or(0);
        (start..self.names.len()).map(|at| (self.names[at], self.value(at)))
    }

    /// Whether the element that started last passes a filter.
    pub(super) fn last_passes(&self, filter: &Condition) -> bool {
        !self.elements.is_empty() && self.passes(self.elements.len() - 1, filter)
    }

    /// Whether an open element passes a filter; the root element is 0.
    pub(super) fn passes(&self, element: usize, filter: &Condition) -> bool {
        let (start, end) = self.range(element);
        passes(filter, &self.names[start..end], &|at| self.value(start + at))
    }
}

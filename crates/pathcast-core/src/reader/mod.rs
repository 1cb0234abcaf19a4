//! A strict, namespace-aware, limited XML 1.0 reader over quick-xml.

mod error;
mod sink;

pub use error::{DocumentError, DocumentErrorKind};
pub use sink::{Attribute, Sink, StartTag, UriId};

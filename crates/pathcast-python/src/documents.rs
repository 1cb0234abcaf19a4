//! Documents from Python: bytes, str, paths and binary files.

use std::io::{self, Read};
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::DataType;
use pathcast_core::reader::{Document, DocumentError, DocumentErrorKind};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use crate::calls::within;
use crate::forks::outside;
use crate::subscriptions::Texts;

/// A document that no longer needs the interpreter, except to read from a Python file.
pub(crate) enum Source {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    File(PathBuf),
    Stream(PythonFile),
    /// Known to be bad before it is read.
    Refused(DocumentError),
}

impl Source {
    pub(crate) fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        if let Ok(text) = document.cast::<PyString>() {
            return Ok(match PyBackedStr::try_from(text.clone()) {
                Ok(text) if is_file_name(&text) => Self::Refused(file_name()),
                Ok(text) => Self::Text(text),
                // Python strings may hold lone surrogates, XML may not.
                Err(error) => Self::Refused(DocumentError {
                    kind: DocumentErrorKind::Encoding,
                    reason: error.value(py).to_string(),
                    line: 1,
                    column: 1,
                }),
            });
        }
        if let Ok(bytes) = document.extract::<PyBackedBytes>() {
            return Ok(Self::Bytes(bytes));
        }
        if document.hasattr("__fspath__")? {
            return Self::file(document);
        }
        if document.hasattr("read")? {
            return Ok(Self::Stream(PythonFile::new(document)));
        }
        // Anything else with the buffer protocol.
        let copied = py.import("builtins")?.getattr("memoryview")?.call1((document,));
        match copied.and_then(|view| view.call_method0("tobytes")) {
            Ok(bytes) => Ok(Self::Bytes(bytes.extract()?)),
            Err(_) => Err(PyTypeError::new_err(format!(
                "a document is bytes, str, a path (os.PathLike) or a binary file, not {}",
                document.get_type().name()?
            ))),
        }
    }

    /// A document among many: `None` is one that is missing, as a null in Arrow is.
    pub(crate) fn or_missing(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        if document.is_none() { Ok(Self::Refused(missing())) } else { Self::new(document) }
    }

    /// A file; one that may wait for ever, such as a named pipe, is read by Python, which sees to signals meanwhile.
    fn file(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let path: PathBuf = document.extract()?;
        match std::fs::metadata(&path) {
            Ok(known) if !known.is_file() && !known.is_dir() => {
                let open = document.py().import("io")?.getattr("open")?;
                Ok(Self::Stream(PythonFile::new(&open.call1((document, "rb", 0))?)))
            }
            _ => Ok(Self::File(path)),
        }
    }

    pub(crate) fn document(&mut self) -> Result<Document<'_>, DocumentError> {
        Ok(match self {
            Self::Bytes(bytes) => Document::Bytes(bytes),
            Self::Text(text) => Document::Text(text),
            Self::File(path) => Document::File(path),
            Self::Stream(file) => Document::Stream(file),
            Self::Refused(error) => return Err(error.clone()),
        })
    }

    /// An exception that a Python file raised while it was read.
    pub(crate) fn take_exception(&mut self) -> Option<PyErr> {
        if let Self::Stream(file) = self { file.exception.take() } else { None }
    }
}

/// Whether a text is the name of a file where a document should be: no document ends like this.
fn is_file_name(text: &str) -> bool {
    text.ends_with(".xml") && !text.contains('<')
}

/// The answer for such a text: the reader's, and what to do.
fn file_name() -> DocumentError {
    let reason =
        "text is not allowed before the root element; a str is XML text: give a file as pathlib.Path";
    DocumentError { kind: DocumentErrorKind::Malformed, reason: reason.to_owned(), line: 1, column: 1 }
}

/// The answer for a null in a column of documents.
pub(crate) fn missing() -> DocumentError {
    let reason = "there is no document (null)".to_owned();
    DocumentError { kind: DocumentErrorKind::Malformed, reason, line: 0, column: 0 }
}

/// A column of documents, of any of Arrow's kinds of strings and bytes.
pub(crate) enum Values<'a> {
    Texts(Texts<'a>),
    Small(&'a BinaryArray),
    Large(&'a LargeBinaryArray),
    View(&'a BinaryViewArray),
}

impl<'a> Values<'a> {
    pub(crate) fn new(array: &'a ArrayRef) -> PyResult<Self> {
        match array.data_type() {
            DataType::Binary => Ok(Self::Small(array.as_binary())),
            DataType::LargeBinary => Ok(Self::Large(array.as_binary())),
            DataType::BinaryView => Ok(Self::View(array.as_binary_view())),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Ok(Self::Texts(Texts::new("document", array)?))
            }
            other => Err(PyTypeError::new_err(format!("documents must be binary or strings, not {other}"))),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<Document<'a>> {
        match self {
            Self::Texts(texts) => texts.get(at).map(Document::Text),
            Self::Small(array) => array.is_valid(at).then(|| Document::Bytes(array.value(at))),
            Self::Large(array) => array.is_valid(at).then(|| Document::Bytes(array.value(at))),
            Self::View(array) => array.is_valid(at).then(|| Document::Bytes(array.value(at))),
        }
    }
}

const CHUNK: usize = 64 << 10;

/// Reads from a Python object with `read(n) -> bytes`.
pub(crate) struct PythonFile {
    file: Py<PyAny>,
    /// What the last call returned, and how much of it has been handed on.
    chunk: Option<Py<PyBytes>>,
    taken: usize,
    exception: Option<PyErr>,
}

impl PythonFile {
    fn new(file: &Bound<'_, PyAny>) -> Self {
        Self { file: file.clone().unbind(), chunk: None, taken: 0, exception: None }
    }

    fn refill(&mut self, py: Python<'_>) -> PyResult<()> {
        let read = outside(|| within(|| self.file.bind(py).call_method1("read", (CHUNK,))))?;
        let chunk = read.cast_into::<PyBytes>().map_err(|_| {
            PyTypeError::new_err("the file's read() does not return bytes: open it in binary mode")
        })?;
        self.chunk = Some(chunk.unbind());
        self.taken = 0;
        Ok(())
    }
}

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let rest = self.chunk.as_ref().map_or(0, |chunk| chunk.as_bytes(py).len() - self.taken);
            if rest == 0
                && let Err(exception) = self.refill(py)
            {
                let is_plain = exception.is_instance_of::<PyOSError>(py);
                let message = if is_plain { exception.value(py).to_string() } else { exception.to_string() };
                self.exception = Some(exception);
                return Err(io::Error::other(message));
            }
            let chunk = self.chunk.as_ref().map_or(&[][..], |chunk| &chunk.as_bytes(py)[self.taken..]);
            let count = chunk.len().min(buffer.len());
            buffer[..count].copy_from_slice(&chunk[..count]);
            self.taken += count;
            Ok(count)
        })
    }
}

//! How a call runs in the core: without the interpreter, on a stack that suffices, ended by a signal or by a
//! [`Cancellation`], and never while the process forks.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pathcast_core::cancel::{Watch, under};
use pathcast_core::limits::roomy;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::forks::Inside;

/// Ends the calls that it was given to, from any thread.
#[pyclass(module = "pathcast._core", frozen)]
#[derive(Default)]
pub(crate) struct Cancellation {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the calls that run and those that begin later.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether `cancel` was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// Whether this thread runs Python code on behalf of an index that is in use.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
    /// What a signal handler raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// Whether Python runs signal handlers in this thread.
    static HANDLES_SIGNALS: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Refuses to wait for an index from within the `read()` of a document or from a signal handler that came in between: it
/// might be waiting for this very call.
pub(crate) fn refuse_within() -> PyResult<()> {
    if WITHIN.get() {
        return Err(PyRuntimeError::new_err(
            "an index cannot be used from within the read() of a document's file, or from a signal handler that \
             interrupts it",
        ));
    }
    Ok(())
}

/// Runs Python code while an index is in use.
pub(crate) fn within<T>(code: impl FnOnce() -> T) -> T {
    let outer = WITHIN.replace(true);
    let result = code();
    WITHIN.set(outer);
    result
}

/// Runs the handlers of signals that arrived; whether one raised.
fn signalled() -> bool {
    match Python::attach(|py| within(|| py.check_signals())) {
        Ok(()) => false,
        Err(exception) => {
            RAISED.set(Some(exception));
            true
        }
    }
}

/// Forgets which thread handles signals: after a fork it is the one that forked.
pub(crate) fn forget_main_thread() {
    HANDLES_SIGNALS.set(None);
}

fn handles_signals(py: Python<'_>) -> PyResult<bool> {
    if let Some(known) = HANDLES_SIGNALS.get() {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let answer = threading.call_method0("get_ident")?.eq(main)?;
    HANDLES_SIGNALS.set(Some(answer));
    Ok(answer)
}

/// Works without the interpreter; raises what a signal handler raises, and `Cancelled` if the call was cancelled.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    cancellation: Option<&Cancellation>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let flag = cancellation.map(|cancellation| Arc::clone(&cancellation.flag));
    let ask: Option<fn() -> bool> = if handles_signals(py)? { Some(signalled) } else { None };
    let watch = Watch { flag, ask };
    let result = py.detach(|| {
        let _inside = Inside::enter();
        under(watch, || roomy(work))
    });
    if let Some(exception) = RAISED.take() {
        return Err(exception);
    }
    if cancellation.is_some_and(Cancellation::cancelled) {
        let class = py.import("pathcast.errors")?.getattr("Cancelled")?;
        return Err(PyErr::from_value(class.call1(("the call was cancelled",))?));
    }
    Ok(result)
}

/// Makes Python objects of many things, and looks for signals now and then: the interpreter does not while it waits.
pub(crate) fn collected<T, R>(
    py: Python<'_>,
    things: impl IntoIterator<Item = T>,
    mut make: impl FnMut(T) -> PyResult<R>,
) -> PyResult<Vec<R>> {
    let things = things.into_iter().enumerate();
    let made = things.map(|(at, each)| {
        if at % 1024 == 1023 {
            py.check_signals()?;
        }
        make(each)
    });
    made.collect()
}

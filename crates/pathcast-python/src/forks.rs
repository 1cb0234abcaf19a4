//! A process forks only while no call is inside the core: a child has none of the other threads, so a lock that one of them
//! held would stay locked for ever, and what it was changing would stay half changed.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calls::forget_main_thread;

/// Calls inside the core.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Threads that fork or wait to.
static FORKS: AtomicUsize = AtomicUsize::new(0);
const WAIT: Duration = Duration::from_micros(200);

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// A call inside the core.
pub(crate) struct Inside {
    outer: bool,
}

impl Inside {
    /// Waits until no fork is under way. A call within a call is counted once.
    pub(crate) fn enter() -> Self {
        let outer = HERE.replace(true);
        if !outer {
            step_in();
        }
        Self { outer }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        HERE.set(self.outer);
        if !self.outer {
            CALLS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn step_in() {
    loop {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if FORKS.load(Ordering::SeqCst) == 0 {
            return;
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
        thread::sleep(WAIT);
    }
}

/// Runs code that may wait for ever, such as the `read()` of a pipe; forks do not wait for it.
pub(crate) fn outside<T>(code: impl FnOnce() -> T) -> T {
    if !HERE.replace(false) {
        return code();
    }
    CALLS.fetch_sub(1, Ordering::SeqCst);
    let result = code();
    HERE.set(true);
    Python::attach(|py| py.detach(step_in));
    result
}

#[pyfunction]
fn before_fork(py: Python<'_>) {
    FORKS.fetch_add(1, Ordering::SeqCst);
    py.detach(|| {
        while CALLS.load(Ordering::SeqCst) > 0 {
            thread::sleep(WAIT);
        }
    });
}

#[pyfunction]
fn after_fork_in_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

#[pyfunction]
fn after_fork_in_child() {
    FORKS.store(0, Ordering::SeqCst);
    CALLS.store(0, Ordering::SeqCst);
    forget_main_thread();
}

/// Tells Python to call these around a fork, where there are forks.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let Ok(register) = module.py().import("os")?.getattr("register_at_fork") else { return Ok(()) };
    let hooks = PyDict::new(module.py());
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    register.call((), Some(&hooks)).map(drop)
}

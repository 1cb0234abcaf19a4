//! Room for columns of ids that is used again when its reader lets go of it.
//!
//! 170,000 ids a document are 1.4 MB. In fresh memory the system hands them out page by page, which takes as long as finding
//! and naming the ids. One buffer is kept for the next batch, of a bounded size.

use std::sync::{Mutex, PoisonError, TryLockError};

use arrow_buffer::{Buffer, ScalarBuffer, ToByteSlice};
use bytes::Bytes;

/// Ids that a buffer may have room for to be kept: 128 MB.
const KEPT: usize = 16 << 20;

/// The buffer that nobody reads any more. It is never waited for: a thread may fork while another has it.
static IDLE: Mutex<Vec<i64>> = Mutex::new(Vec::new());

/// What is kept becomes `other`, and the other way round; nothing happens while somebody else is at it.
fn exchange(mut other: Vec<i64>, wanted: impl Fn(&Vec<i64>, &Vec<i64>) -> bool) -> Vec<i64> {
    let idle = match IDLE.try_lock() {
        Ok(idle) => Some(idle),
        Err(TryLockError::Poisoned(idle)) => Some(PoisonError::into_inner(idle)),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(mut idle) = idle
        && wanted(&idle, &other)
    {
        std::mem::swap(&mut *idle, &mut other);
    }
    other
}

/// An empty buffer.
pub(crate) fn take() -> Vec<i64> {
    let mut taken = exchange(Vec::new(), |_, _| true);
    taken.clear();
    taken
}

/// A column that gives its room back.
pub(crate) fn lend(mut numbers: Vec<i64>) -> ScalarBuffer<i64> {
    numbers.shrink_to(KEPT);
    let length = numbers.len();
    ScalarBuffer::new(Buffer::from(Bytes::from_owner(Lent(numbers))), 0, length)
}

/// Ids that somebody reads.
struct Lent(Vec<i64>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.to_byte_slice()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.0.capacity() <= KEPT {
            let back = std::mem::take(&mut self.0);
            exchange(back, |idle, back| idle.capacity() < back.capacity());
        }
    }
}

//! Ending work that nobody waits for any more.
//!
//! Loops that may take long ask [`requested`] now and then. The answer comes from the [`Watch`] that the thread works
//! under: a flag that others may raise, and a question to the caller, asked at most once in [`PAUSE`]. The loop then ends
//! early; whoever set the watch throws away what it got and says why.
//!
//! Cost: a clock is read once for each question, so a loop with short rounds asks through a [`Pulse`].

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the caller is left alone between two questions.
pub const PAUSE: Duration = Duration::from_millis(25);

/// Says when to end.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Raised by anybody.
    pub flag: Option<Arc<AtomicBool>>,
    /// Asked by the thread that works under the watch.
    pub ask: Option<fn() -> bool>,
}

impl Watch {
    /// The watch for a thread that works for this one: it sees the flag and leaves the caller alone.
    pub fn for_worker(&self) -> Self {
        Self { flag: self.flag.clone(), ask: None }
    }
}

struct Active {
    watch: Watch,
    asked: Option<Instant>,
    over: bool,
}

thread_local! {
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
}

/// Puts back the watch that was set before, also when the work panics.
struct Restore(Option<Active>);

impl Drop for Restore {
    fn drop(&mut self) {
        ACTIVE.set(self.0.take());
    }
}

/// Works under a watch.
pub fn under<T>(watch: Watch, work: impl FnOnce() -> T) -> T {
    let _outer = Restore(ACTIVE.replace(Some(Active { watch, asked: None, over: false })));
    work()
}

/// Gives the current watch a flag if it has none, so that threads can share it.
pub fn shared() -> Watch {
    ACTIVE.with_borrow_mut(|active| match active {
        Some(active) => {
            active.watch.flag.get_or_insert_with(Arc::default);
            active.watch.clone()
        }
        None => Watch::default(),
    })
}

/// Whether to end.
pub fn requested() -> bool {
    let question = ACTIVE.with_borrow_mut(|active| {
        let Some(active) = active else { return Err(false) };
        let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        active.over |= active.watch.flag.as_ref().is_some_and(raised);
        let now = Instant::now();
        let due = active.asked.get_or_insert(now);
        match active.watch.ask {
            Some(ask) if !active.over && now.duration_since(*due) >= PAUSE => {
                *due = now;
                Ok(ask)
            }
            _ => Err(active.over),
        }
    });
    let ask = match question {
        Ok(ask) => ask,
        Err(known) => return known,
    };
    // The caller may work under a watch of its own before it answers, so nothing is borrowed here.
    let over = ask();
    if over {
        ACTIVE.with_borrow_mut(|active| {
            let Some(active) = active else { return };
            active.over = true;
            if let Some(flag) = &active.watch.flag {
                flag.store(true, Ordering::Relaxed);
            }
        });
    }
    over
}

/// Lets go of something large without waiting until its memory is given back.
pub fn discard<T: Send + 'static>(large: T) {
    // Without a thread it is dropped here: a closure that was not started is.
    let _ = std::thread::Builder::new().spawn(move || drop(large));
}

/// Many things; whoever lets go of them does not wait until their memory is given back.
pub struct Bulk<T: Send + 'static>(Vec<T>);

impl<T: Send + 'static> Bulk<T> {
    /// Fewer are dropped sooner than a thread starts.
    const FEW: usize = 4_096;

    /// None, with room for as many.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

impl<T: Send + 'static> FromIterator<T> for Bulk<T> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        Self(things.into_iter().collect())
    }
}

impl<T: Send + 'static> Deref for Bulk<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Send + 'static> DerefMut for Bulk<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Send + 'static> Drop for Bulk<T> {
    fn drop(&mut self) {
        if self.0.len() > Self::FEW {
            discard(std::mem::take(&mut self.0));
        }
    }
}

/// Asks in one of 64 rounds.
#[derive(Default)]
pub struct Pulse(u32);

impl Pulse {
    /// Whether to end.
    #[inline]
    pub fn requested(&mut self) -> bool {
        self.0 = self.0.wrapping_add(1);
        self.0.is_multiple_of(64) && requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_watch_nothing_ends() {
        assert!(!requested());
        assert!(!under(Watch::default(), requested));
    }

    #[test]
    fn a_flag_ends_work_and_stays() {
        let flag = Arc::new(AtomicBool::new(false));
        let watch = Watch { flag: Some(flag.clone()), ask: None };
        under(watch.clone(), || {
            assert!(!requested());
            flag.store(true, Ordering::Relaxed);
            assert!(requested());
            assert!(!under(Watch::default(), requested), "an inner watch is its own");
            assert!(requested());
        });
        assert!(under(watch.for_worker(), requested));
        assert!(!requested());
    }

    #[test]
    fn the_caller_is_asked_after_a_pause_and_workers_hear_of_it() {
        under(Watch { flag: None, ask: Some(|| true) }, || {
            let worker = shared().for_worker();
            assert!(!requested(), "the first pause is not over");
            let begun = Instant::now();
            while !requested() {
                assert!(begun.elapsed() < 100 * PAUSE);
            }
            assert!(under(worker, requested));
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn much_is_dropped_elsewhere_and_little_here() {
        struct Told(std::sync::mpsc::Sender<std::thread::ThreadId>);
        impl Drop for Told {
            fn drop(&mut self) {
                let _ = self.0.send(std::thread::current().id());
            }
        }
        let (told, heard) = std::sync::mpsc::channel();
        let here = std::thread::current().id();
        for (count, expected) in [(3, true), (5_000, false)] {
            drop(std::iter::repeat_with(|| Told(told.clone())).take(count).collect::<Bulk<_>>());
            assert!(heard.iter().take(count).all(|thread| (thread == here) == expected));
        }
    }

    #[test]
    fn a_pulse_asks_now_and_then() {
        let watch = Watch { flag: Some(Arc::new(AtomicBool::new(true))), ask: None };
        under(watch, || {
            let mut pulse = Pulse::default();
            assert_eq!((0..64).filter(|_| pulse.requested()).count(), 1);
        });
    }
}

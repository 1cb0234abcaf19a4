//! Damage for a bounded time: documents, expressions and index files that were good once.
//!
//! Each target takes entries of `testdata/` and seeds of its own, damages them, and holds them against the laws of this
//! crate. `PATHCAST_FUZZ_SECONDS` says how long each target runs (3 by default) and
//! `PATHCAST_FUZZ_SEED` where chance starts (1 by default). A failure prints the seed and the number of the round;
//! `PATHCAST_FUZZ_ONLY` with that number repeats it alone.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

mod corpus;
mod documents;
mod expressions;
mod files;
mod mutate;

use std::time::{Duration, Instant};

use pathcast_fuzz::Random;

/// Says how to repeat a round if it panics.
struct Witness<'a> {
    target: &'a str,
    seed: u64,
    round: u64,
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { target, seed, round } = self;
            eprintln!(
                "repeat with PATHCAST_FUZZ_SEED={seed} PATHCAST_FUZZ_ONLY={round} cargo test -p pathcast-fuzz --test mutated {target}"
            );
        }
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

/// Runs rounds until the time is up; `one` gets the chance of its round and nothing from the rounds before.
fn fuzz(target: &str, mut one: impl FnMut(&mut Random) -> bool) {
    let seed = setting("PATHCAST_FUZZ_SEED").unwrap_or(1);
    let only = setting("PATHCAST_FUZZ_ONLY");
    let time = Duration::from_secs(setting("PATHCAST_FUZZ_SECONDS").unwrap_or(3));
    let began = Instant::now();
    let (mut rounds, mut accepted) = (0_u64, 0_u64);
    while only.is_some() && rounds == 0 || only.is_none() && began.elapsed() < time {
        let round = only.unwrap_or(rounds);
        let _witness = Witness { target, seed, round };
        accepted += u64::from(one(&mut Random(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ round << 1)));
        rounds += 1;
    }
    println!("{target}: seed {seed}, {rounds} rounds, {accepted} accepted");
    assert!(
        only.is_some() || rounds < 1_000 || accepted > 0,
        "{target}: everything is refused, nothing is tried"
    );
}

//! See `pathcast_fuzz::documents`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pathcast_fuzz::documents::check(bytes, bytes.len() as u64);
});

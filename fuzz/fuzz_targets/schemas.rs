//! See `pathcast_fuzz::schemas`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pathcast_fuzz::schemas::check(bytes);
});

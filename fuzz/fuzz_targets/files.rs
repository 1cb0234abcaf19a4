//! See `pathcast_fuzz::files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pathcast_fuzz::files::check(bytes);
});

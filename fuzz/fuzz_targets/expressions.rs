//! See `pathcast_fuzz::expressions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|lines: &str| {
    pathcast_fuzz::expressions::check(lines);
});

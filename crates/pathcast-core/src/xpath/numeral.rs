//! Numbers as XPath source text.
//!
//! The idea: XPath has no exponents, and libxml2's reading of long numbers is off by some bits, so the
//! shortest decimal that a correct reader would accept does not always read back. We try it first (it nearly
//! always does), and for what is left search backwards through the reader's own steps.
//!
//! Invariant: every number that source text can denote is printed so that it reads back the same.
//! Cost: one reading for a usual number; some hundred for one of more than 16 digits.

use crate::values::number::scan_decimal;

/// The text of a number.
pub(super) fn text(number: f64) -> String {
    let size = number.abs();
    let digits = shortest(size).or_else(|| backwards(size)).or_else(|| shifted(size));
    // Left over are numbers that no text denotes, so not from a parser; the nearest text has to do.
    let digits = digits.unwrap_or_else(|| if size.is_nan() { "NaN".into() } else { size.to_string() });
    if number.is_sign_negative() && !size.is_nan() { format!("-{digits}") } else { digits }
}

fn reads_as(text: String, size: f64) -> Option<String> {
    scan_decimal(text.as_bytes()).filter(|&(value, length)| value == size && length == text.len())?;
    Some(text)
}

fn shortest(size: f64) -> Option<String> {
    if size.is_infinite() {
        return reads_as(format!("1{}", "0".repeat(309)), size);
    }
    reads_as(size.to_string(), size)
}

/// A whole number beyond 2^53: looks for `y` and a digit `d` such that `y * 10 + d` rounds to it, and so on
/// for `y` until it is small enough to be exact. The candidates of a level are an interval of a few
/// neighbours.
fn backwards(size: f64) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !size.is_finite() || size < EXACT {
        return None;
    }
    let mut levels: Vec<Vec<(f64, u8, usize)>> = vec![vec![(size, 0, 0)]];
    loop {
        let last = levels.last()?;
        if let Some(found) = last.iter().position(|candidate| candidate.0 < EXACT) {
            return reads_as(digits_along(&levels, found), size);
        }
        let mut next: Vec<(f64, u8, usize)> = Vec::new();
        for (parent, &(value, ..)) in last.iter().enumerate() {
            let mut candidate = (value / 10.0).next_down().next_down();
            for _ in 0..5 {
                candidate = if candidate < EXACT { candidate.floor() } else { candidate };
                let digit = (0..10_u8).find(|&digit| candidate * 10.0 + f64::from(digit) == value);
                if let Some(digit) = digit.filter(|_| next.iter().all(|other| other.0 != candidate)) {
                    next.push((candidate, digit, parent));
                }
                candidate = if candidate < EXACT { candidate + 1.0 } else { candidate.next_up() };
            }
        }
        if next.is_empty() {
            return None;
        }
        levels.push(next);
    }
}

/// The candidate `index` of the last level, then the digits that lead from it back to the number itself.
fn digits_along(levels: &[Vec<(f64, u8, usize)>], mut index: usize) -> String {
    let mut text = levels[levels.len() - 1][index].0.to_string();
    for level in levels[1..].iter().rev() {
        let (_, digit, parent) = level[index];
        text.push(char::from(b'0' + digit));
        index = parent;
    }
    text
}

/// A number with a fraction: looks for a whole number of up to 20 digits that, divided by a power of ten,
/// rounds to the fraction, and prints that behind the point.
fn shifted(size: f64) -> Option<String> {
    const REACH: usize = 16;
    let (whole, fraction) = (size.trunc(), size.fract());
    let zeros = if fraction > 0.0 { (-fraction.log10()) as usize } else { return None };
    // The logarithm of a power of ten may be one too large.
    (zeros.max(1)..=zeros + 21).rev().find_map(|places| {
        let mut digits = fraction * 10_f64.powf(places as f64);
        (0..REACH).for_each(|_| digits = digits.next_down());
        (0..2 * REACH).find_map(|_| {
            digits = digits.next_up();
            let behind = shortest(digits.floor()).or_else(|| backwards(digits.floor()))?;
            reads_as(format!("{whole}.{behind:0>places$}"), size)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_stay_plain() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (3.0, "3"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000"),
            (1e-7, "0.0000001"),
        ] {
            assert_eq!(text(number), expected);
        }
        assert_eq!(text(f64::INFINITY).len(), 310);
        assert_eq!(text(f64::NAN), "NaN");
    }

    /// Digits of every length on both sides of the point, as a hostile or careless person would write them.
    #[test]
    fn what_was_read_is_printed_to_read_the_same() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for round in 0..40_000 {
            let whole = random([2, 20, 60, 310][round % 4]);
            let mut written: String = (0..whole).map(|_| char::from(b'0' + random(10) as u8)).collect();
            written.push('.');
            written.extend((0..random([1, 5, 40, 320][round / 4 % 4])).map(|_| '0'));
            written.extend((0..1 + random(25)).map(|_| char::from(b'0' + random(10) as u8)));
            let (value, _) = scan_decimal(written.as_bytes()).unwrap();
            let printed = text(value);
            let (again, length) = scan_decimal(printed.as_bytes()).unwrap();
            assert_eq!((again.to_bits(), length), (value.to_bits(), printed.len()), "{written} as {printed}");
        }
    }
}

//! Text to numbers the way libxml2 does it.
//!
//! The idea: XPath 1.0 asks for the nearest double, but libxml2, which judges our answers, does not deliver
//! it. It accumulates the digits before the point as `value * 10 + digit`, those behind the point as a second
//! number that is then divided by a power of ten, and adds the two. Each operation rounds, so long numbers
//! end one or more bits beside the nearest double. We repeat the same operations in the same order.
//!
//! Invariants: equal to `number($text)` of libxml2 bit for bit, its quirks included: an exponent is read
//! (`1e3`, even `1e`), and no `+` is allowed in front. Powers of ten come from the platform's `pow`, as
//! there.
//! Cost: one pass over the text; one `pow` for more than 22 digits behind the point or for an exponent.

/// Digits behind the point that count, zeros directly behind the point aside.
const SIGNIFICANT: usize = 20;

/// Powers of ten that a double holds exactly.
#[rustfmt::skip]
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
    1e20, 1e21, 1e22,
];

/// The value of `number($text)`.
///
/// ```
/// use pathcast_core::values::number::from_xpath_number;
/// assert_eq!(from_xpath_number(" -2.5\n"), -2.5);
/// assert_eq!(from_xpath_number("1e3"), 1000.0);
/// assert!(from_xpath_number("+1").is_nan());
/// assert!(from_xpath_number("").is_nan());
/// ```
pub fn from_xpath_number(text: &str) -> f64 {
    let mut rest = trim_start(text.as_bytes());
    let negative = rest.first() == Some(&b'-');
    if negative {
        rest = &rest[1..];
    }
    let Some((mut value, length)) = scan_decimal(rest) else {
        return f64::NAN;
    };
    rest = &rest[length..];
    let mut exponent = 0_i32;
    if let Some(b'e' | b'E') = rest.first() {
        rest = &rest[1..];
        let below_zero = rest.first() == Some(&b'-');
        if let Some(b'-' | b'+') = rest.first() {
            rest = &rest[1..];
        }
        while let Some(digit @ b'0'..=b'9') = rest.first() {
            if exponent < 1_000_000 {
                exponent = exponent * 10 + i32::from(digit - b'0');
            }
            rest = &rest[1..];
        }
        if below_zero {
            exponent = -exponent;
        }
    }
    if !trim_start(rest).is_empty() {
        return f64::NAN;
    }
    if negative {
        value = -value;
    }
    // Zero times ten to the thousandth is not a number there, so the product is taken even of a zero.
    value * power_of_ten(exponent)
}

/// The value of `string($number)`: as many digits as tell the number from its neighbours, and no exponent.
///
/// ```
/// use pathcast_core::values::number::to_xpath_string;
/// assert_eq!(to_xpath_string(-0.0), "0");
/// assert_eq!(to_xpath_string(1e21), "1000000000000000000000");
/// assert_eq!(to_xpath_string(0.1), "0.1");
/// assert_eq!(to_xpath_string(f64::NEG_INFINITY), "-Infinity");
/// ```
pub fn to_xpath_string(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    (number + 0.0).to_string()
}

/// Reads `12`, `12.`, `12.5` or `.5` from the front: the value and the bytes it takes.
pub(crate) fn scan_decimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = 0;
    let mut value = 0.0;
    while let Some(digit) = digit_at(text, at) {
        value = value * 10.0 + digit;
        at += 1;
    }
    let whole_digits = at;
    if text.get(at) != Some(&b'.') {
        return (whole_digits > 0).then_some((value, at));
    }
    at += 1;
    if whole_digits == 0 {
        digit_at(text, at)?;
    }
    let start = at;
    while text.get(at) == Some(&b'0') {
        at += 1;
    }
    let end = at + SIGNIFICANT;
    let mut fraction = 0.0;
    while at < end
        && let Some(digit) = digit_at(text, at)
    {
        fraction = fraction * 10.0 + digit;
        at += 1;
    }
    // The cast saturates far beyond the largest power a double holds.
    value += fraction / power_of_ten(i32::try_from(at - start).unwrap_or(i32::MAX));
    while digit_at(text, at).is_some() {
        at += 1;
    }
    Some((value, at))
}

fn digit_at(text: &[u8], at: usize) -> Option<f64> {
    match text.get(at) {
        Some(digit @ b'0'..=b'9') => Some(f64::from(digit - b'0')),
        _ => None,
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    let exact = usize::try_from(exponent).ok().and_then(|index| EXACT.get(index));
    exact.copied().unwrap_or_else(|| 10_f64.powf(f64::from(exponent)))
}

fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits as libxml2 2.14 gives them.
    #[test]
    fn reads_what_libxml2_reads() {
        for (text, value) in [
            ("0", 0.0),
            ("007", 7.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5", -0.5),
            (" \t\r\n12 \n", 12.0),
            ("1e3", 1000.0),
            ("1E+3", 1000.0),
            ("25e-1", 2.5),
            ("1e", 1.0),
            ("1e-", 1.0),
            ("1e400", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("-0", -0.0),
            ("0.1", 0.1),
        ] {
            assert_eq!(from_xpath_number(text).to_bits(), value.to_bits(), "{text:?}");
        }
    }

    #[test]
    fn refuses_what_libxml2_refuses() {
        for text in [
            "", " ", ".", "-", "-e7", "-.", "+1", "--1", "- 1", "e5", "0x10", "Infinity", "NaN", "1 2",
            "1,5", "\u{a0}1", "1\u{a0}", "\u{661}", "1e5.", "1e 5", "0e400", ".e5", "1..", "1.5.",
        ] {
            assert!(from_xpath_number(text).is_nan(), "{text:?}");
        }
    }

    #[test]
    fn long_numbers_round_step_by_step() {
        let digits = "1".repeat(400);
        assert_eq!(from_xpath_number(&digits), f64::INFINITY);
        assert_eq!(from_xpath_number(&format!("0.{}1", "0".repeat(400))), 0.0);
        let exact: f64 = "0.1234567890123456789".parse().unwrap();
        assert!((from_xpath_number("0.1234567890123456789") - exact).abs() < 1e-16);
    }
}

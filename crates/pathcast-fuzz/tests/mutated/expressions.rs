//! Damaged expressions, some at a time.

use pathcast_fuzz::Random;
use pathcast_fuzz::expressions::check;

use super::mutate::mutate;
use super::{corpus, fuzz};

const TOKENS: [&str; 64] = [
    "a",
    "b",
    "c",
    "p:q",
    "p:*",
    "*",
    "/",
    "//",
    ".",
    "..",
    "@",
    "@x",
    "@*",
    "(",
    ")",
    "[",
    "]",
    "|",
    "+",
    "-",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    ",",
    "'x'",
    "\"y\"",
    "'",
    "1",
    "-2.5",
    ".5",
    "1e5",
    "not(",
    "contains(",
    "starts-with(",
    "text()",
    "node()",
    "comment()",
    "processing-instruction('t')",
    "child::",
    "self::",
    "attribute::",
    "descendant::",
    "descendant-or-self::",
    "following::",
    "following-sibling::",
    "preceding::",
    "preceding-sibling::",
    "parent::",
    " or ",
    " and ",
    " div ",
    "[a]",
    "[b = 2]",
    "[.//c]",
    "[@x = 'y']",
    "[not(a or b)]",
    "[/a/b]",
    "/a/b",
    "count(",
    "é",
    "\u{10000}",
];

#[test]
fn expressions() {
    let seeds = corpus::expressions();
    fuzz("expressions", |random| {
        let lines: String = (0..6).map(|_| line(random, &seeds)).collect();
        check(&lines)
    });
}

fn line(random: &mut Random, seeds: &[String]) -> String {
    let mut xpath = random.pick(seeds).clone().into_bytes();
    if random.below(8) > 0 {
        mutate(random, &mut xpath, seeds, &TOKENS);
    }
    let ordered = if random.below(4) == 0 { "\t" } else { "" };
    format!("{ordered}{}\n", String::from_utf8_lossy(&xpath))
}

//! Regular expressions as XPath 2.0 writes them, run in linear time.
//!
//! The idea: a pattern is an automaton whose states are made when a text first needs them, and kept in bounded memory. Most
//! patterns need few, and then a byte is one look into a table. Some need a new state for every byte, and making one costs
//! by the size of the pattern; so what is made is counted, and whoever asks may end the search.
//!
//! Invariants: a pattern is bounded in size when it is compiled, and so is what a search makes of it.
//! Cost: linear in the text; a byte costs at most the size of the pattern.

mod syntax;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use regex_automata::hybrid::dfa::{Builder, Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::syntax::Config as Syntax;
use regex_automata::{Input, MatchKind};

/// Bytes that a compiled pattern may take.
const SIZE: usize = 1 << 20;

/// Bytes of states that are kept; above that they are made anew.
const STATES: usize = 1 << 20;

/// Bytes of compiled patterns that are kept together.
const KEPT: usize = 64 << 20;

/// Bytes of text between two questions whether to go on.
const BLOCK: usize = 256;

/// Bytes of states that cost as much as a byte of text.
const MADE: usize = 4;

/// A compiled pattern, with the states that texts have needed.
#[derive(Debug)]
pub struct Pattern {
    automaton: DFA,
    states: Cache,
}

/// Compiles a pattern with the flags of `matches()`.
///
/// # Errors
/// A sentence that says what is wrong with it.
///
/// ```
/// use pathcast_core::values::regex::compile;
/// let mut pattern = compile(r"^\d{3}-[a-z]+$", "i").unwrap();
/// assert!(pattern.is_match("123-ABC", |_| true));
/// assert!(compile(r"(a)\1", "").is_err());
/// ```
pub fn compile(pattern: &str, flags: &str) -> Result<Pattern, String> {
    let mut syntax = Syntax::new();
    for flag in flags.chars() {
        syntax = match flag {
            'i' => syntax.case_insensitive(true),
            's' => syntax.dot_matches_new_line(true),
            'm' => syntax.multi_line(true),
            'x' => syntax, // white space is taken out below
            other => return Err(format!("matches() knows the flags i, s, m and x, not {other:?}")),
        };
    }
    let translated = syntax::translate(pattern, flags.contains('x'), flags.contains('i'))?;
    let refused = || format!("not a regular expression of XPath 2.0: {pattern:?}");
    let compiled: NFA = thompson::Compiler::new()
        .syntax(syntax)
        .configure(
            thompson::Config::new().nfa_size_limit(Some(SIZE)).which_captures(thompson::WhichCaptures::None),
        )
        .build(&translated)
        .map_err(|error| match error.size_limit() {
            Some(limit) => format!(
                "the regular expression is too large: compiled it takes more than the limit of {limit} bytes"
            ),
            None => refused(),
        })?;
    let kept = DFA::config()
        .match_kind(MatchKind::LeftmostFirst)
        .cache_capacity(STATES)
        .skip_cache_capacity_check(true);
    let automaton = Builder::new().configure(kept).build_from_nfa(compiled).map_err(|_| refused())?;
    let states = automaton.create_cache();
    Ok(Pattern { automaton, states })
}

impl Pattern {
    /// Whether it is found in a text. `spend` is told what the search has cost, and says whether to go on; when it does
    /// not, the answer is no answer.
    pub fn is_match(&mut self, text: &str, spend: impl FnMut(usize) -> bool) -> bool {
        // An automaton without a quit byte, whose states are made anew without end, has no reason to give up.
        self.search(text, spend).unwrap_or(false)
    }

    fn search(&mut self, text: &str, mut spend: impl FnMut(usize) -> bool) -> Option<bool> {
        let Self { automaton, states } = self;
        let mut state = automaton.start_state_forward(states, &Input::new(text)).ok()?;
        for block in text.as_bytes().chunks(BLOCK) {
            let (held, emptied) = (states.memory_usage(), states.clear_count());
            for &byte in block {
                state = automaton.next_state(states, state, byte).ok()?;
                if state.is_tagged() && (state.is_match() || state.is_dead()) {
                    return Some(state.is_match());
                }
            }
            let made = states.memory_usage() + (states.clear_count() - emptied) * STATES;
            if !spend(block.len() + made.saturating_sub(held) / MADE) {
                return None;
            }
        }
        Some(automaton.next_eoi_state(states, state).ok()?.is_match())
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.automaton.get_nfa().memory_usage() + self.automaton.memory_usage() + self.states.memory_usage()
    }
}

/// Compiled patterns by pattern and flags, as many as there is room for.
#[derive(Debug, Default)]
pub struct Patterns {
    known: HashMap<(Box<str>, Box<str>), Option<Pattern>>,
    held: usize,
}

impl Patterns {
    /// Whether a pattern is found in a text; to compile it is part of what the search costs.
    pub fn is_match(
        &mut self,
        pattern: &str,
        flags: &str,
        text: &str,
        mut spend: impl FnMut(usize) -> bool,
    ) -> bool {
        if self.held > KEPT {
            *self = Self::default();
        }
        let Self { known, held } = self;
        let mut before = 0;
        let known = match known.entry((pattern.into(), flags.into())) {
            Entry::Occupied(entry) => {
                before = entry.get().as_ref().map_or(0, Pattern::memory_bytes);
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                let compiled = compile(pattern, flags).ok();
                spend(compiled.as_ref().map_or(0, Pattern::memory_bytes) / MADE);
                entry.insert(compiled)
            }
        };
        let Some(pattern) = known else { return false };
        let found = pattern.is_match(text, spend);
        *held = *held + pattern.memory_bytes() - before;
        found
    }

    /// Heap bytes held by the patterns.
    pub fn memory_bytes(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn patterns_mean_what_xpath_says() {
        for (pattern, flags, text, expected) in [
            ("b", "", "abc", true),
            ("^b", "", "abc", false),
            ("^b", "m", "a\nbc", true),
            ("a$", "", "a\n", false),
            ("a.c", "", "a\nc", false),
            ("a.c", "s", "a\nc", true),
            ("", "", "", true),
            ("^*", "", "", true),
            ("A B", "ix", "xabx", true),
            ("a {1, 2} ?$", "x", "aa", true),
            ("[a b]", "x", " ", true),
            (r"^\w+$", "", "a_b", false),
            (r"^\w+$", "", "a+b", true),
            (r"^\s$", "", "\u{a0}", false),
            (r"^[\w-[a]]+$", "", "bcd", true),
            (r"^[\w-[a]]+$", "", "bad", false),
            ("^[^a-[b]]$", "", "c", true),
            ("^[^a-[b]]$", "", "b", false),
            ("^[a-z-[b-y-[m]]]+$", "", "amz", true),
            ("^[a-z-[b-y-[m]]]+$", "", "c", false),
            ("^[A-Z-[IO]]$", "i", "o", false),
            ("^[-a]$", "", "-", true),
            ("^[a-]$", "", "-", true),
            ("^[&&~~]+$", "", "&~", true),
            (r"^\i\c*$", "", "xs:name-1", true),
            (r"^\d+$", "", "٣", true),
            (r"^\p{Lu}\p{L}*$", "", "Ärger", true),
            (r"\p{Lu}", "i", "a", false),
            (r"x\p{Lu}", "i", "XA", true),
            (r"\P{Lu}", "i", "A", false),
            (r"[\p{L}\d]", "i", "a", true),
            (r"(a+)+$", "", &"a".repeat(10_000), true),
        ] {
            let found = compile(pattern, flags).unwrap().is_match(text, |_| true);
            assert_eq!(found, expected, "{pattern} {flags} {text}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn what_is_refused_says_why() {
        for (pattern, flags, fragment) in [
            ("(", "", "not a regular expression"),
            ("a{,3}", "", "not a regular expression"),
            ("a", "q", "flags"),
            (r"(a)\1", "", "back-references"),
            (r"\b", "", "no escape"),
            ("(?i)a", "", "(?"),
            ("( ?i)a", "x", "nothing to repeat"),
            ("|*", "", "nothing to repeat"),
            ("a\\", "", "backslash"),
            ("a*+", "", "follows another"),
            ("a{2}{3}", "", "follows another"),
            ("a+??", "", "follows another"),
            ("[]a]", "", "empty"),
            ("[^]a]", "", "empty"),
            ("[-[a]]", "", "empty"),
            ("[[:alpha:]]", "", r"write \["),
            ("[a[b]]", "", r"write \["),
            ("[a-[b]c]", "", "ends its class"),
            (r"\p{IsGreek}", "", "blocks"),
            (r"\p{Greek}", "", "no category"),
            (r"\p{lu}", "", "no category"),
            (r"\pL", "", "no category"),
            (r"\p{L", "", "no category"),
            (r"[\p{Lu}x]", "i", "outside classes"),
            ("((a{1000}){1000}){1000}", "", "too large"),
        ] {
            let message = compile(pattern, flags).err().unwrap_or_default();
            assert!(message.contains(fragment), "{pattern}: {message}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn what_a_search_makes_is_told() {
        let text = "ab".repeat(20_000);
        let mut told = 0;
        let mut count = |steps: usize| {
            told += steps;
            true
        };
        assert!(!compile("b{3}", "").unwrap().is_match(&text, &mut count));
        assert!(told < 2 * text.len(), "a pattern of few states costs the text: {told}");
        let (mut noise, mut seed) = (String::new(), 1_u32);
        while noise.len() < text.len() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.push(if seed & (1 << 20) == 0 { 'a' } else { 'b' });
        }
        let mut slow = compile("[ab]*a[ab]{1000}c", "").unwrap();
        let mut asked = 0;
        let found = slow.is_match(&noise, |steps| {
            asked += steps;
            asked < 1_000_000
        });
        assert!(!found && (1_000_000..2_000_000).contains(&asked), "a new state for each byte: {asked}");
        assert!(slow.memory_bytes() < SIZE + 2 * STATES);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn patterns_are_kept_in_bounded_memory() {
        let mut patterns = Patterns::default();
        let mut told = 0;
        let mut bound = false;
        for number in 0..400 {
            for _ in 0..2 {
                let count = |steps| {
                    told += steps;
                    true
                };
                assert!(!patterns.is_match(&format!("y{number}[ab]{{0,5000}}"), "", "x", count));
            }
            assert!(patterns.memory_bytes() <= KEPT + SIZE + STATES);
            bound |= patterns.known.len() <= number;
        }
        assert!(bound, "400 patterns take {} bytes", patterns.memory_bytes());
        assert!(told > KEPT / MADE, "compiling is told: {told}");
    }
}

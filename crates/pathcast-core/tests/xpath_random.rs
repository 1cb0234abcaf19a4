//! The parser against chance and malice: random trees survive printing, random text never panics, and no
//! nesting overflows the stack.

use pathcast_core::limits::Limits;
use pathcast_core::xpath::ast::{
    Arithmetic, Axis, Column, Comparison, Expr, Function, NodeTest, Origin, Path, Step,
};
use pathcast_core::xpath::{XPathErrorKind, parse};

/// Xorshift: enough chance for a test, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const UNLIMITED: Limits = Limits {
    depth: usize::MAX,
    attributes: usize::MAX,
    name_bytes: usize::MAX,
    document_bytes: u64::MAX,
    expression_bytes: usize::MAX,
    steps: usize::MAX,
    nesting: usize::MAX,
    expansion: usize::MAX,
    evaluation_steps: u64::MAX,
    work: u64::MAX,
    entity_expansion: u64::MAX,
};

const NAMES: [&str; 9] = ["a", "b-c", "or", "and", "div", "text", "not", "été", "_1."];
const LITERALS: [&str; 5] = ["", "x", "it's", "say \"a\"", "[/a or b]"];

fn test(random: &mut Random, attribute: bool) -> NodeTest<'static> {
    match random.below(if attribute { 5 } else { 9 }) {
        0 | 1 => NodeTest::Name(None, random.pick(&NAMES)),
        2 => NodeTest::Name(Some(random.pick(&NAMES)), random.pick(&NAMES)),
        3 => NodeTest::Any,
        4 if attribute || random.below(2) == 0 => NodeTest::Node,
        4 => NodeTest::Namespace(random.pick(&NAMES)),
        5 => NodeTest::Text,
        6 => NodeTest::Comment,
        7 => NodeTest::Instruction(None),
        _ => NodeTest::Instruction(Some(random.pick(&LITERALS))),
    }
}

fn path(random: &mut Random, size: usize, mut on_attribute: bool) -> Path<'static> {
    const AXES: [Axis; 11] = [
        Axis::Parent,
        Axis::Ancestor,
        Axis::AncestorOrSelf,
        Axis::Child,
        Axis::Descendant,
        Axis::DescendantOrSelf,
        Axis::SelfNode,
        Axis::Following,
        Axis::FollowingSibling,
        Axis::Preceding,
        Axis::PrecedingSibling,
    ];
    let absolute = random.below(2) == 0;
    on_attribute &= !absolute;
    let mut steps = Vec::new();
    for _ in 0..random.below(4) + usize::from(!absolute) {
        let plain = |axis| (axis, NodeTest::Node);
        let (axis, test) = match random.below(6) {
            _ if on_attribute => plain(Axis::SelfNode),
            0 => plain(Axis::DescendantOrSelf),
            1 => plain(Axis::SelfNode),
            2 => (Axis::Attribute, test(random, true)),
            3 => (Axis::Child, test(random, false)),
            _ => (random.pick(&AXES), test(random, false)),
        };
        on_attribute |= axis == Axis::Attribute;
        let count = if size > 0 { random.below(3) / 2 * (1 + random.below(2)) } else { 0 };
        let mut predicates = Vec::new();
        while predicates.len() < count {
            let predicate = expression(random, size - 1, on_attribute);
            predicates.push(predicate);
        }
        steps.push(Step { axis, test, predicates, column: Column(0) });
    }
    let origin = if absolute { Origin::Root } else { Origin::Context };
    Path { origin, steps, column: Column(0) }
}

fn constant(random: &mut Random) -> Expr<'static> {
    match random.below(3) {
        0 => Expr::Literal(random.pick(&LITERALS)),
        1 => Expr::Number(random.pick(&[0.0, 3.0, -2.5, 0.1, 1e20, -1e-7, f64::INFINITY])),
        _ => Expr::Number(random.below(1 << 30) as f64 / 64.0),
    }
}

fn union(random: &mut Random, size: usize, on_attribute: bool) -> Expr<'static> {
    Expr::Union((0..2 + random.below(2)).map(|_| path(random, size, on_attribute)).collect())
}

fn expression(random: &mut Random, size: usize, on_attribute: bool) -> Expr<'static> {
    const COMPARISONS: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessEqual,
        Comparison::Greater,
        Comparison::GreaterEqual,
    ];
    if size == 0 {
        return Expr::Path(path(random, 0, on_attribute));
    }
    let kind = random.below(13);
    let terms = |random: &mut Random, keep: fn(&Expr<'_>) -> bool| {
        let mut terms = Vec::new();
        while terms.len() < 2 + size % 2 {
            let term = expression(random, size - 1, on_attribute);
            if keep(&term) {
                terms.push(term);
            }
        }
        terms
    };
    match kind {
        0 => Expr::Or(terms(random, |term| !matches!(term, Expr::Or(_)))),
        1 => Expr::And(terms(random, |term| !matches!(term, Expr::And(_)))),
        2 => Expr::Not(Box::new(expression(random, size - 1, on_attribute)), Column(1)),
        3..=5 => {
            let nodes = match random.below(4) {
                0 => union(random, size - 1, on_attribute),
                1 => constant(random),
                _ => Expr::Path(path(random, size - 1, on_attribute)),
            };
            let mut sides = [Box::new(nodes), Box::new(constant(random))];
            if random.below(2) == 0 {
                sides.reverse();
            }
            let [left, right] = sides;
            match (kind, &*left, &*right) {
                (3, left_side, right_side)
                    if !matches!((left_side, right_side), (Expr::Union(_), _) | (_, Expr::Union(_))) =>
                {
                    let function = random.pick(&[Function::Contains, Function::StartsWith, Function::Concat]);
                    Expr::Call(function, vec![*left, *right], Column(0))
                }
                _ => Expr::Compare(random.pick(&COMPARISONS), left, right, Column(0)),
            }
        }
        6 => union(random, size - 1, on_attribute),
        7 => constant(random),
        8 => {
            let first = expression(random, size - 1, on_attribute);
            let operators: &[Arithmetic] = match random.below(2) {
                0 => &[Arithmetic::Add, Arithmetic::Subtract],
                _ => &[Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Modulo],
            };
            let rest = (0..1 + random.below(2))
                .map(|_| (random.pick(operators), expression(random, size - 1, on_attribute)))
                .collect();
            // What would be read as one chain is written with parentheses, which the tree does not show.
            Expr::Arithmetic(Box::new(first), rest, Column(0))
        }
        9 => {
            let start = match random.below(2) {
                0 => union(random, size - 1, on_attribute),
                _ => Expr::Path(path(random, size - 1, on_attribute)),
            };
            let Path { steps, .. } = path(random, 0, on_attribute);
            let predicates = vec![expression(random, size - 1, on_attribute)];
            let origin = Origin::Filter(Box::new(start), predicates);
            Expr::Path(Path { origin, steps, column: Column(0) })
        }
        10 => match expression(random, size - 1, on_attribute) {
            Expr::Number(number) => Expr::Number(-number),
            inner => Expr::Negate(Box::new(inner), Column(0)),
        },
        _ => Expr::Path(path(random, size - 1, on_attribute)),
    }
}

#[test]
fn trees_survive_printing_and_parsing() {
    for seed in 1..=20_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let tree = expression(&mut random, seed as usize % 5, false);
        let text = tree.to_string();
        match parse(&text, &UNLIMITED) {
            Ok(parsed) => assert_eq!(parsed, tree, "seed {seed}: {text}"),
            Err(error) => panic!("seed {seed}: {text}: {error}"),
        }
    }
}

#[test]
fn token_soup_never_panics_and_prints_stably() {
    #[rustfmt::skip]
    const PIECES: [&str; 60] = [
        "a", "b", "or", "and", "div", "mod", "p:q", "p:*", "*", "/", "//", ".", "..", "@", "@x", "(", ")",
        "[", "]", "|", "+", "-", "=", "!=", "<", "<=", ">", ">=", ",", "'x'", "\"y\"", "'", "\"", "1",
        "2.5", ".5", "5.", "1e5", "not(", "contains(", "starts-with(", "text()", "node()", "comment()",
        "processing-instruction(", "count(", "child::", "self::", "attribute::", "parent::", "following::",
        "::", ":", "$v", " ", "é", "\u{B7}", "#", "\0", "😀",
    ];
    let mut accepted = 0;
    for seed in 1..=100_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let text: String = (0..1 + random.below(9)).map(|_| random.pick(&PIECES)).collect();
        match parse(&text, &Limits::default()) {
            Ok(tree) => {
                accepted += 1;
                let printed = tree.to_string();
                assert_eq!(parse(&printed, &Limits::default()), Ok(tree), "seed {seed}: {text:?}");
            }
            Err(error) => {
                assert!(
                    (1..=text.chars().count() + 1).contains(&error.column),
                    "seed {seed}: {text:?}: {error}"
                );
                assert_ne!(error.kind, XPathErrorKind::UnboundPrefix);
            }
        }
    }
    assert!(accepted > 2_000, "{accepted} accepted");
}

#[test]
fn byte_soup_never_panics() {
    for seed in 1..=100_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let bytes: Vec<u8> = (0..random.below(24))
            .map(|_| if random.below(8) == 0 { random.below(256) as u8 } else { 32 + random.below(95) as u8 })
            .collect();
        let _ = parse(&String::from_utf8_lossy(&bytes), &Limits::default());
    }
}

/// Runs on the smallest stack a thread is likely to have; an overflow would end the process.
#[test]
fn no_nesting_overflows_the_stack() {
    let hostile = || {
        let many = 20_000;
        for (open, middle, close) in [
            ("(", "a", ")"),
            ("a[", "b", "]"),
            ("not(", "a", ")"),
            ("a[not((", "b", "))]"),
            ("a[b = 'x' or (c and contains(", "d", ", 'x'))]"),
            ("(", "", ""),
            ("a[", "", ""),
            ("-(", "3", ")"),
        ] {
            let source = format!("{}{middle}{}", open.repeat(many), close.repeat(many));
            let error = parse(&source, &UNLIMITED).expect_err(open);
            assert_eq!(error.kind, XPathErrorKind::Limit, "{error}");
        }
        for (piece, end) in [
            ("a or ", "a"),
            ("a and ", "a"),
            ("a | ", "a"),
            ("a/", "a"),
            ("a//", "a"),
            ("-", "3"),
            ("a[b]/", "c"),
        ] {
            let source = format!("{}{end}", piece.repeat(many));
            let tree = parse(&source, &UNLIMITED).expect(piece);
            assert_eq!(parse(&tree.to_string(), &UNLIMITED).as_ref(), Ok(&tree.clone()));
        }
        assert!(parse(&"a+".repeat(many), &UNLIMITED).is_err());
        assert!(parse(&"a[".repeat(many), &Limits::default()).is_err());
        // The deepest that is accepted can also be printed, compared and dropped.
        for (open, close) in [("a[b = 'x' or (c and not(", "))]"), ("a[", "]"), ("not(", ")")] {
            let depth = 256 / open.matches(['[', '(']).count();
            let source = format!("{}a{}", open.repeat(depth), close.repeat(depth));
            let tree = parse(&source, &UNLIMITED).expect(open);
            assert_eq!(parse(&tree.to_string(), &UNLIMITED).as_ref(), Ok(&tree.clone()));
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(hostile).expect("a thread");
    thread.join().expect("no panic");
}

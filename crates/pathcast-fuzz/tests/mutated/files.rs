//! Damaged index files.

use pathcast_core::index::{ENGINES, Id, Index, Settings};
use pathcast_fuzz::expressions::{namespaces, outcomes};
use pathcast_fuzz::files::{HEADER, check, sealed};

use super::mutate::mutate;
use super::{corpus, fuzz};

/// Bytes with a meaning: tags, small and large numbers.
const TOKENS: [&str; 12] = [
    "\0",
    "\u{1}",
    "\u{2}",
    "\u{5}",
    "\u{9}",
    "\u{B}",
    "\u{7F}",
    "a",
    "*",
    "\0\0",
    "\u{1}\u{1}",
    "\u{5}\u{1}\u{1}",
];

#[test]
fn files() {
    let expressions = corpus::expressions();
    fuzz("files", |random| {
        let mut index = Index::new(Settings { namespaces: namespaces(), ..Settings::default() });
        for number in 0..1 + random.below(4) as i64 {
            let id =
                if random.below(2) == 0 { Id::Number(number) } else { Id::Text(number.to_string().into()) };
            let xpath: &String = random.pick(&expressions);
            let _ = index.add(id, xpath, random.below(4) == 0, &Vec::new());
        }
        let bytes = index.to_bytes();
        assert_eq!(outcomes(&Index::from_bytes(&bytes, &ENGINES).unwrap()), outcomes(&index));
        let mut payload = bytes[HEADER..].to_vec();
        mutate(random, &mut payload, &[&bytes[HEADER..]], &TOKENS);
        check(&[&bytes[8..9], &payload[..]].concat())
    });
}

/// The deepest nesting that is let through can be loaded, matched, saved and dropped on the stack of any thread.
#[test]
fn nesting() {
    // frames without optimisation are many times as large
    let stack = if cfg!(debug_assertions) { 64 << 20 } else { 2 << 20 };
    std::thread::Builder::new().stack_size(stack).spawn(load_nested).unwrap().join().unwrap();
}

fn load_nested() {
    let empty = Index::new(Settings::default()).to_bytes();
    let settings = &empty[HEADER..empty.len() - 3]; // without no names, no expressions, no subscriptions
    let not: &[u8] = &[4];
    let child: &[u8] = &[5, 1, 1, 0, 0]; // some element, one level down
    let root: &[u8] = &[10];
    let both: &[u8] = &[2, 2, 6, 2]; // a text node, and
    for link in [not, child, root, both] {
        for depth in [1, 100, 1_000, 1_500, 2_046, 2_047, 2_048, 4_000, 100_000] {
            let condition = [&link.repeat(depth)[..], &[8, 0, 1, b'x']].concat();
            // one subscription: the number 0, the first expression, and nothing of how it was written
            let payload = [settings, &[0, 1, 1], &condition, &[1, 0], &[0; 8], &[0, 0]].concat();
            let Ok(mut index) = Index::from_bytes(&sealed(&payload, empty[8].into()), &ENGINES) else {
                assert!(depth > 1_500, "{depth} times {link:?} is no damage");
                continue;
            };
            outcomes(&index);
            assert!(Index::from_bytes(&index.to_bytes(), &ENGINES).is_ok());
            assert!(index.remove(&Id::Number(0)));
        }
    }
}

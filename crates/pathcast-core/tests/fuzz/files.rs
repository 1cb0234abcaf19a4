//! Index files whose checksum is right and whose contents are not: an error, or an index that works.

use pathcast_core::index::{Id, Index, Settings};

use super::expressions::{namespaces, outcomes};
use super::mutate::mutate;
use super::{corpus, fuzz};

const HEADER: usize = 24;

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

/// The same file with a front that fits what follows.
fn sealed(payload: &[u8], version: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    [b"PATHCAST", version, &length, &crc32fast::hash(payload).to_le_bytes(), payload].concat()
}

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
        assert_eq!(outcomes(&Index::from_bytes(&bytes).unwrap()), outcomes(&index));
        let mut payload = bytes[HEADER..].to_vec();
        mutate(random, &mut payload, &[&bytes[HEADER..]], &TOKENS);
        let Ok(mut damaged) = Index::from_bytes(&sealed(&payload, &bytes[8..12])) else { return false };
        let ids: Vec<Id> = damaged.ids().cloned().collect();
        assert_eq!(ids.len(), damaged.len());
        let again = Index::from_bytes(&damaged.to_bytes()).unwrap();
        assert_eq!(outcomes(&again), outcomes(&damaged));
        for id in &ids {
            assert!(damaged.remove(id));
        }
        assert_eq!(damaged.stats().distinct, 0);
        true
    });
}

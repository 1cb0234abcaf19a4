//! Index files whose checksum is right and whose contents are not: an error, or an index that works,
//! and so does what is opened from its image.

use std::io::Cursor;

use pathcast_core::index::{ENGINES, Id, Index};

use crate::expressions::outcomes;

/// The bytes before the payload: mark, version, length and checksum.
pub const HEADER: usize = 24;

/// The file with this payload and a front that fits it.
pub fn sealed(payload: &[u8], version: u32) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let checksum = crc32fast::hash(payload).to_le_bytes();
    [b"PATHCAST", &version.to_le_bytes()[..], &length, &checksum, payload].concat()
}

/// Loads a version (the first byte) and a payload (the others).
pub fn check(bytes: &[u8]) -> bool {
    let Some((&version, payload)) = bytes.split_first() else { return false };
    let Ok(mut damaged) = Index::from_bytes(&sealed(payload, version.into()), &ENGINES) else { return false };
    let ids: Vec<Id> = damaged.ids().collect();
    assert_eq!(ids.len(), damaged.len());
    let again = Index::from_bytes(&damaged.to_bytes(), &ENGINES).unwrap();
    assert_eq!(outcomes(&again), outcomes(&damaged));
    if let Some(image) = damaged.to_image() {
        let opened = Index::from_image(Cursor::new(image), &ENGINES).unwrap();
        assert_eq!(outcomes(&opened), outcomes(&damaged));
        assert!(opened.to_bytes() == damaged.to_bytes());
        if damaged.len() % 2 == 0 {
            damaged = opened; // and forgets as it does
        }
    }
    for id in &ids {
        assert!(damaged.remove(id));
    }
    assert_eq!(damaged.stats().distinct, 0);
    true
}

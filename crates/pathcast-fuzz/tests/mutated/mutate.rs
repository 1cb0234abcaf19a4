//! Damage: bytes flipped, put in, taken out, repeated, and pieces of something else.

use pathcast_fuzz::Random;

/// Damages `bytes` one to four times; `others` and `tokens` lend the pieces.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>, others: &[impl AsRef<[u8]>], tokens: &[&str]) {
    let times: usize = *random.pick(&[1, 1, 1, 2, 4]);
    for _ in 0..times {
        let at = random.below(bytes.len() + 1);
        let longest = *random.pick(&[4, 4, 4, 64]);
        let to = (at + 1 + random.below(longest)).min(bytes.len());
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.insert(at, random.next() as u8),
            3 => drop(bytes.drain(at.min(to)..to)),
            4 => {
                let piece = bytes[at.min(to)..to].to_vec();
                let into = random.below(bytes.len() + 1);
                let times = 1 + random.below(3);
                bytes.splice(into..into, piece.repeat(times));
            }
            5 => {
                let other = random.pick(others).as_ref();
                let from = random.below(other.len() + 1);
                let end = (from + random.below(40)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            6 => bytes.truncate(at),
            _ => {
                let token = random.pick(tokens).as_bytes();
                let end = if random.below(2) == 0 { at } else { to.max(at) };
                bytes.splice(at..end, token.iter().copied());
            }
        }
    }
    bytes.truncate(16 << 10);
}

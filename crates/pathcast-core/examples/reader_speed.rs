//! How fast the strict reader is beside a bare quick-xml loop over the same bytes.
//!
//! `cargo run --release -p pathcast-core --example reader_speed -- FILE...` prints MB/s of both and their ratio: the best
//! of several rounds, taken in turn so that a busy machine disturbs both alike. Both count elements and must agree.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pathcast_core::limits::Limits;
use pathcast_core::reader::{Reader, Sink, StartTag, UriId};
use quick_xml::events::Event;

const ROUNDS: usize = 15;

#[derive(Default)]
struct Count {
    elements: u64,
    text: bool,
}

impl Sink for Count {
    fn wants_text(&self) -> bool {
        self.text
    }
    fn namespace(&mut self, _: UriId, _: &str) {}
    fn start(&mut self, _: &StartTag<'_>) {
        self.elements += 1;
    }
    fn end(&mut self) {}
    fn text(&mut self, text: &str) {
        black_box(text);
    }
    fn comment(&mut self, _: &str) {}
    fn instruction(&mut self, _: &str, _: &str) {}
}

fn bare(document: &[u8]) -> u64 {
    let mut reader = quick_xml::Reader::from_reader(document);
    let mut elements = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Start(_) | Event::Empty(_)) => elements += 1,
            Ok(Event::Eof) => return elements,
            Ok(event) => {
                black_box(event);
            }
            Err(error) => panic!("quick-xml: {error}"),
        }
    }
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let documents: Vec<Vec<u8>> =
        paths.iter().map(|path| std::fs::read(path).expect("a file that can be read")).collect();
    let bytes: usize = documents.iter().map(Vec::len).sum();
    let mut reader = Reader::new(Limits::default());
    let mut best = [Duration::MAX; 4];
    let mut elements = [0; 4];
    // short inputs are repeated so that a round lasts
    let repeat = (8_000_000 / bytes.max(1)).max(1);
    for _ in 0..ROUNDS {
        for way in 0..4 {
            elements[way] = 0;
            let start = Instant::now();
            for document in (0..repeat).flat_map(|_| &documents) {
                let mut sink = Count { elements: 0, text: way == 2 };
                let result = match way {
                    0 => {
                        sink.elements = bare(document);
                        Ok(())
                    }
                    3 => reader.read_stream(document.as_slice(), &mut sink),
                    _ => reader.read_bytes(document, &mut sink),
                };
                if let Err(error) = result {
                    panic!("refused: {error}");
                }
                elements[way] += sink.elements;
            }
            best[way] = best[way].min(start.elapsed());
        }
    }
    assert!(elements.iter().all(|&count| count == elements[0]), "element counts differ: {elements:?}");
    let speed = |way: usize| (bytes * repeat) as f64 / best[way].as_secs_f64() / 1e6;
    println!("{} documents, {bytes} bytes, {} elements", documents.len(), elements[0] / repeat as u64);
    println!("bare quick-xml     {:8.1} MB/s", speed(0));
    for (way, name) in [(1, "strict, no text"), (2, "strict, with text"), (3, "strict, streamed")] {
        println!("{name:18} {:8.1} MB/s   ratio {:.2}", speed(way), speed(way) / speed(0));
    }
}

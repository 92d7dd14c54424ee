//! Tells the linker how to leave Node's symbols open when the addon is built, and writes the tables of the token
//! counter: the ranks of o200k_base and the classes of characters, as bytes that need no loading (src/token).

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

#[path = "src/token/hash.rs"]
mod hash;
#[path = "src/token/layout.rs"]
mod layout;

use layout::{
    CHARS_PER_BLOCK, LOWER, MAX_CHAR, NEWLINE, NO_RANK, NUMBER, PREFIX, PUNCTUATION, RANK_BITS,
    RANK_BYTES, SPACE, TAIL, UPPER,
};

/// Keys per bucket and slots per key: fewer buckets or slots make pilots harder to find.
const KEYS_PER_BUCKET: usize = 4;
const SLOTS_PER_100_KEYS: usize = 104;

/// Bytes after the last slot, so that each part of a slot can be read as a whole word.
const READ_AHEAD_BYTES: usize = 8;

fn main() {
    if env::var_os("CARGO_FEATURE_BINDING").is_some() {
        napi_build::setup();
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/token/hash.rs");
    println!("cargo:rerun-if-changed=src/token/layout.rs");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    let (blob, shapes) = rank_table(&vocabulary());
    write(&out.join("ranks.bin"), &blob);
    write(&out.join("shapes.rs"), shapes.as_bytes());
    write(&out.join("chars.bin"), &char_table());
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// The bytes of each token, by rank.
fn vocabulary() -> Vec<Vec<u8>> {
    let bpe = tiktoken_rs::o200k_base().expect("tiktoken-rs brings its vocabulary with it");
    (0..).map_while(|rank| bpe.decode_bytes(&[rank]).ok()).collect()
}

/// The bytes of `ranks.bin` and the source of its shapes, one per length of key.
///
/// First the rank of each pair of bytes; then, for each length, a pilot per bucket and a slot per key, which is the
/// key and its rank. Pairs are there as well, so that a look-up need not ask whether a key is one.
fn rank_table(tokens: &[Vec<u8>]) -> (Vec<u8>, String) {
    let longest = tokens.iter().map(Vec::len).max().expect("the vocabulary is not empty");
    let mut by_len: Vec<Vec<(&[u8], u32)>> = vec![Vec::new(); longest + 1];
    for (token, rank) in tokens.iter().zip(0..) {
        by_len[token.len()].push((token, rank));
    }
    assert!(by_len[0].is_empty() && by_len[1].len() == 256, "each byte is a token");
    assert!(tokens.len() < 1 << RANK_BITS, "{} ranks", tokens.len());
    let mut blob = NO_RANK.to_le_bytes()[..RANK_BYTES].repeat(1 << 16);
    for &(pair, rank) in &by_len[2] {
        let at = layout::pair_at(pair[0], pair[1]);
        blob[at..at + RANK_BYTES].copy_from_slice(&rank.to_le_bytes()[..RANK_BYTES]);
    }
    let mut shapes = format!("static SHAPES: [Shape; {}] = [\n", by_len.len());
    for (len, keys) in by_len.iter().enumerate() {
        let n_buckets = keys.len().div_ceil(KEYS_PER_BUCKET).max(1);
        let n_slots = (keys.len() * SLOTS_PER_100_KEYS).div_ceil(100).max(1);
        let (pilots, slots) = place(keys, n_buckets, n_slots);
        let pilots_at = blob.len();
        blob.extend(pilots.iter().flat_map(|pilot| pilot.to_le_bytes()));
        let slots_at = blob.len();
        for slot in slots {
            let (key, rank) =
                slot.map_or((vec![0; len], NO_RANK), |k| (keys[k].0.to_vec(), keys[k].1));
            blob.extend(key);
            blob.extend(&rank.to_le_bytes()[..RANK_BYTES]);
        }
        let _ = writeln!(
            shapes,
            "Shape {{ pilots_at: {pilots_at}, n_buckets: {n_buckets}, slots_at: {slots_at}, n_slots: {n_slots} }},",
        );
    }
    shapes.push_str("];\n");
    blob.extend([0; READ_AHEAD_BYTES]);
    (blob, shapes)
}

/// A pilot for each bucket, and for each slot the index of its key.
fn place(
    keys: &[(&[u8], u32)],
    n_buckets: usize,
    n_slots: usize,
) -> (Vec<u16>, Vec<Option<usize>>) {
    let mut buckets: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n_buckets];
    for (k, (key, _)) in keys.iter().enumerate() {
        let hash = hash_of(key);
        buckets[hash::bucket(hash, n_buckets as u32)].push((k, hash));
    }
    let mut order: Vec<usize> = (0..n_buckets).collect();
    order.sort_by_key(|&b| (std::cmp::Reverse(buckets[b].len()), b));
    let mut pilots = vec![0_u16; n_buckets];
    let mut slots: Vec<Option<usize>> = vec![None; n_slots];
    for b in order {
        let bucket = &buckets[b];
        let mut taken = Vec::with_capacity(bucket.len());
        pilots[b] = (0..=u16::MAX)
            .find(|&pilot| {
                taken.clear();
                bucket.iter().all(|&(_, hash)| {
                    let slot = hash::slot(hash, pilot, n_slots as u32);
                    let free = slots[slot].is_none() && !taken.contains(&slot);
                    taken.push(slot);
                    free
                })
            })
            .expect("a pilot separates the keys of each bucket");
        for (&slot, &(k, _)) in taken.iter().zip(bucket) {
            slots[slot] = Some(k);
        }
    }
    (pilots, slots)
}

fn hash_of(key: &[u8]) -> u64 {
    hash::finish(key.chunks(8).fold(hash::EMPTY_HASH, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash::add_word(hash, u64::from_le_bytes(word))
    }))
}

/// The bytes of `chars.bin`: for each block of characters the number of its classes, then the classes themselves.
fn char_table() -> Vec<u8> {
    let mut classes = vec![0_u8; MAX_CHAR + 1];
    let mut mark = |pattern: &str, class: u8| {
        for (first, last) in ranges(pattern) {
            for char_class in &mut classes[first as usize..=last as usize] {
                *char_class |= class;
            }
        }
    };
    mark(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER);
    mark(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER);
    mark(r"\p{N}", NUMBER);
    mark(r"\s", SPACE);
    mark(r"[\r\n]", NEWLINE);
    mark(r"[^\s\p{L}\p{N}]", PUNCTUATION);
    mark(r"[^\r\n\p{L}\p{N}]", PREFIX);
    mark(r"[\r\n/]", TAIL);

    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut table = Vec::new();
    for block in classes.chunks(CHARS_PER_BLOCK) {
        let number = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        table.push(u8::try_from(number).expect("there are fewer than 257 distinct blocks"));
    }
    table.extend(blocks.concat());
    table
}

fn ranges(pattern: &str) -> Vec<(char, char)> {
    let hir = regex_syntax::parse(pattern).expect("the pattern is a valid class");
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("{pattern} is no class of characters");
    };
    class.iter().map(|range| (range.start(), range.end())).collect()
}

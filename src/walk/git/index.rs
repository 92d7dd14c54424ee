//! Which paths does a repository track?
//!
//! In: the bytes of git's index file, versions 2 to 4 (gitformat-index(5)), split or not. Out: the paths, ordered.
//! Only names are read. A sparse index (folders collapsed into one entry) keeps the folder entries as they are.
//! A damaged or unknown file tracks nothing.

use std::path::Path;

use crate::walk::regular;

/// The paths of an index.
#[derive(Debug, Default)]
pub(super) struct TrackedPaths {
    /// Ordered by bytes, without repeats; in lower case where case is ignored.
    paths: Vec<Box<[u8]>>,
    fold_case: bool,
}

impl TrackedPaths {
    /// Reads the index in `git_dir`. `hash_bytes`: 20, or 32 in a repository of SHA-256.
    pub(super) fn read(git_dir: &Path, hash_bytes: usize, fold_case: bool) -> Self {
        let paths = read_paths(git_dir, hash_bytes).unwrap_or_default();
        Self::new(paths, fold_case)
    }

    fn new(mut paths: Vec<Box<[u8]>>, fold_case: bool) -> Self {
        if fold_case {
            paths.iter_mut().for_each(|path| path.make_ascii_lowercase());
        }
        paths.sort_unstable();
        paths.dedup();
        Self { paths, fold_case }
    }

    /// Whether the path is an entry: a file, a link or a submodule.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.with_case(path, |path| {
            self.paths.binary_search_by(|entry| (**entry).cmp(path)).is_ok()
        })
    }

    /// Whether an entry lies below the folder `folder`, written without a final slash.
    pub(super) fn contains_below(&self, folder: &[u8]) -> bool {
        let prefix = [folder, b"/"].concat();
        self.with_case(&prefix, |prefix| {
            let first = self.paths.partition_point(|entry| **entry < *prefix);
            self.paths.get(first).is_some_and(|entry| entry.starts_with(prefix))
        })
    }

    /// All entries, ordered by bytes.
    pub(super) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.paths.iter().map(|path| &**path)
    }

    fn with_case<T>(&self, path: &[u8], ask: impl FnOnce(&[u8]) -> T) -> T {
        if self.fold_case { ask(&path.to_ascii_lowercase()) } else { ask(path) }
    }
}

fn read_paths(git_dir: &Path, hash_bytes: usize) -> Option<Vec<Box<[u8]>>> {
    let read = |name: &str| regular::read(&git_dir.join(name), regular::MAX_INDEX_BYTES);
    let content = read("index")?;
    let index = parse(&content, hash_bytes)?;
    let Some(link) = index.link else { return Some(index.paths) };
    let shared_name: String = link.shared.iter().map(|byte| format!("{byte:02x}")).collect();
    let shared = read(&format!("sharedindex.{shared_name}"))?;
    let mut paths = parse(&shared, hash_bytes)?.paths;
    let mut position = 0;
    paths.retain(|_| {
        position += 1;
        !link.deleted.get(position - 1).copied().unwrap_or(false)
    });
    // Entries that replace a shared one have no name of their own.
    paths.extend(index.paths.into_iter().filter(|path| !path.is_empty()));
    Some(paths)
}

struct Parsed {
    paths: Vec<Box<[u8]>>,
    link: Option<SplitLink>,
}

/// What a split index says about the shared one that it builds on.
struct SplitLink {
    shared: Vec<u8>,
    /// By position in the shared index.
    deleted: Vec<bool>,
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n_bytes)?;
        self.0 = tail;
        Some(head)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let name = self.take(memchr::memchr(0, self.0)?)?;
        self.take(1)?;
        Some(name)
    }

    /// git's variable-width number, most significant part first.
    fn offset_varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
        }
        Some(number)
    }
}

fn parse(content: &[u8], hash_bytes: usize) -> Option<Parsed> {
    let mut cursor = Cursor(content.get(..content.len().checked_sub(hash_bytes)?)?);
    if cursor.take(4)? != b"DIRC" {
        return None;
    }
    let version = cursor.u32()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let n_entries = cursor.u32()? as usize;
    let mut paths: Vec<Box<[u8]>> = Vec::with_capacity(n_entries.min(content.len() / 62));
    for _ in 0..n_entries {
        let start_bytes = cursor.0.len();
        cursor.take(40 + hash_bytes)?;
        let is_extended = version >= 3 && cursor.u16()? & 0x4000 != 0
            || version == 2 && {
                cursor.u16()?;
                false
            };
        if is_extended {
            cursor.u16()?;
        }
        if version == 4 {
            let strip_bytes = cursor.offset_varint()?;
            let previous = paths.last().map_or(&b""[..], |path| path);
            let kept = previous.get(..previous.len().checked_sub(strip_bytes)?)?;
            let path = [kept, cursor.until_nul()?].concat();
            paths.push(path.into());
        } else {
            paths.push(cursor.until_nul()?.into());
            let used_bytes = start_bytes - cursor.0.len();
            // At least one NUL, then up to a multiple of eight.
            cursor.take(used_bytes.next_multiple_of(8) - used_bytes)?;
        }
    }
    let mut link = None;
    while let Some(signature) = cursor.take(4) {
        let n_bytes = cursor.u32()? as usize;
        let body = cursor.take(n_bytes)?;
        if signature == b"link" {
            link = parse_link(body, hash_bytes)?;
        }
    }
    Some(Parsed { paths, link })
}

/// None inside: the extension says that there is no shared index.
fn parse_link(body: &[u8], hash_bytes: usize) -> Option<Option<SplitLink>> {
    let mut cursor = Cursor(body);
    let shared = cursor.take(hash_bytes)?.to_vec();
    if shared.iter().all(|&byte| byte == 0) {
        return Some(None);
    }
    let deleted = if cursor.0.is_empty() { Vec::new() } else { parse_bitmap(&mut cursor)? };
    Some(Some(SplitLink { shared, deleted }))
}

/// An EWAH compressed bitmap (gitformat-bitmap(5), appendix A).
fn parse_bitmap(cursor: &mut Cursor<'_>) -> Option<Vec<bool>> {
    let n_bits = cursor.u32()? as usize;
    let mut n_words = cursor.u32()?;
    let mut bits = Vec::new();
    while n_words > 0 {
        let marker = cursor.u64()?;
        n_words -= 1;
        let run_words = usize::try_from((marker >> 1) & 0xffff_ffff).ok()?;
        let run_bits = run_words.checked_mul(64)?.min(n_bits.checked_sub(bits.len())?);
        bits.resize(bits.len() + run_bits, marker & 1 == 1);
        for _ in 0..marker >> 33 {
            let word = cursor.u64()?;
            n_words = n_words.checked_sub(1)?;
            bits.extend((0..64).map(|nth| word >> nth & 1 == 1));
        }
        bits.truncate(n_bits);
    }
    cursor.u32()?;
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_index_tracks_nothing() {
        for content in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x05aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
        {
            assert!(parse(content, 20).is_none_or(|parsed| parsed.paths.is_empty()));
        }
    }

    #[test]
    fn paths_and_folders_are_found() {
        let paths = ["a-b/x", "a/x", "a/y/z", "b"].map(|path| path.as_bytes().into());
        let tracked = TrackedPaths::new(paths.to_vec(), false);
        assert!(tracked.contains(b"a/x") && tracked.contains(b"b"));
        assert!(!tracked.contains(b"a") && !tracked.contains(b"A/x"));
        assert!(tracked.contains_below(b"a") && tracked.contains_below(b"a/y"));
        assert!(!tracked.contains_below(b"b") && !tracked.contains_below(b"a/x"));
        let folded = TrackedPaths::new(paths.to_vec(), true);
        assert!(folded.contains(b"A/X") && folded.contains_below(b"A/Y"));
    }
}

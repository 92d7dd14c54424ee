//! What the server found and what was found here, as one list.
//!
//! Nothing that a server says of places is believed: [`place`] keeps a hit only if it lies in the repository that was
//! asked about, in a file of the local index that may be a hit, and within its lines. Then [`merge`] takes the server's
//! hits in files that are as the server has them, and the local hits in the others.
//!
//! Scores of the two lists are on different scales. Each list is divided by its best score, so that both begin with 1,
//! and the lists are put together in the order of these numbers; at equal numbers the server's hit comes first, for its
//! list is the best of far more files. A list whose best score is not above 0 gets 1, 1/2, 1/3 and so on.

use std::collections::{HashMap, HashSet};

use super::local::LocalHit;
use super::types::{FileRef, IndexedFiles, RemoteHit, Repository};
use crate::span::LineRange;

/// A hit of the server that lies in a file of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedHit {
    /// Where.
    pub file: FileRef,
    /// 0-based, half-open, within the file.
    pub lines: LineRange,
    /// The lines, as they are in the indexed commit.
    pub text: String,
    /// As the server gave it.
    pub score: f64,
}

/// Where a hit is from.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<H> {
    /// The server; the text is that of the indexed commit.
    Remote {
        /// The lines.
        text: String,
    },
    /// The local search.
    Local(H),
}

/// A hit of the one list.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedHit<H> {
    /// Where.
    pub file: FileRef,
    /// 0-based, half-open.
    pub lines: LineRange,
    /// 0 to 1: a share of the best of its list.
    pub score: f64,
    /// From whom.
    pub found: Found<H>,
}

/// How many hits of the server were not believed or not wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// In another repository than the one that was asked about.
    pub of_another_repository: usize,
    /// A path that leaves the repository, or is none.
    pub bad_path: usize,
    /// A file that is not in the local index, or may not be a hit of this question.
    pub not_wanted: usize,
    /// Lines that the file has not, or a score that is no number.
    pub bad_lines: usize,
}

/// Whether a path stays below the folder that it is relative to.
fn is_inside(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    !is_drive
        && !path.contains('\0')
        && path.split(['/', '\\']).all(|part| !matches!(part, "" | "." | ".."))
}

/// Keeps the hits of one repository's answer that can be true, and cuts lines to those of the file.
pub fn place(
    hits: Vec<RemoteHit>,
    folder: usize,
    repository: &Repository,
    files: &dyn IndexedFiles,
    rejected: &mut Rejected,
) -> Vec<PlacedHit> {
    let key = repository.key();
    let mut placed = Vec::new();
    for hit in hits {
        if hit.repository.to_lowercase() != key {
            rejected.of_another_repository += 1;
            continue;
        }
        if !is_inside(&hit.path) {
            rejected.bad_path += 1;
            continue;
        }
        let Some(path) = repository.in_folder(&hit.path) else {
            rejected.not_wanted += 1;
            continue;
        };
        let file = FileRef { folder, path: path.to_owned() };
        if !files.is_wanted(&file) {
            rejected.not_wanted += 1;
            continue;
        }
        let end = hit.lines.end.min(files.n_lines(&file).unwrap_or(u32::MAX));
        if hit.lines.start >= end || !hit.score.is_finite() {
            rejected.bad_lines += 1;
            continue;
        }
        let lines = LineRange { start: hit.lines.start, end };
        placed.push(PlacedHit { file, lines, text: hit.text, score: hit.score });
    }
    placed
}

/// Puts the two lists together, best first, at most `limit` hits, none twice.
///
/// `local`: what was found in the files of `searched_here`; `None` if they could not be searched, and then the server's
/// hits in them are kept. Hits in files of `gone` never are.
pub fn merge<H>(
    remote: Vec<PlacedHit>,
    local: Option<Vec<LocalHit<H>>>,
    searched_here: &HashSet<FileRef>,
    gone: &HashSet<FileRef>,
    limit: usize,
) -> Vec<MergedHit<H>> {
    let has_local = local.is_some();
    let mut remote: Vec<MergedHit<H>> = remote
        .into_iter()
        .filter(|hit| !gone.contains(&hit.file))
        .filter(|hit| !has_local || !searched_here.contains(&hit.file))
        .map(|hit| MergedHit {
            file: hit.file,
            lines: hit.lines,
            score: hit.score,
            found: Found::Remote { text: hit.text },
        })
        .collect();
    let mut local: Vec<MergedHit<H>> = local
        .unwrap_or_default()
        .into_iter()
        .filter(|hit| {
            searched_here.contains(&hit.file) && !hit.lines.is_empty() && hit.score.is_finite()
        })
        .map(|hit| MergedHit {
            file: hit.file,
            lines: hit.lines,
            score: hit.score,
            found: Found::Local(hit.hit),
        })
        .collect();
    normalise(&mut remote);
    normalise(&mut local);
    let mut all = remote;
    all.append(&mut local);
    // The sort is stable: at equal scores and places the server's hit is first.
    all.sort_by(|a, b| {
        let is_local = |hit: &MergedHit<H>| matches!(hit.found, Found::Local(_));
        b.score.total_cmp(&a.score).then_with(|| is_local(a).cmp(&is_local(b)))
    });
    let mut seen: HashMap<FileRef, HashSet<LineRange>> = HashMap::new();
    all.retain(|hit| match seen.get_mut(&hit.file) {
        Some(lines) => lines.insert(hit.lines),
        None => seen.insert(hit.file.clone(), HashSet::from([hit.lines])).is_none(),
    });
    all.truncate(limit);
    all
}

/// Orders a list, best first, ties by place, and makes its scores shares of the best.
fn normalise<H>(hits: &mut [MergedHit<H>]) {
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.file.cmp(&b.file))
            .then_with(|| (a.lines.start, a.lines.end).cmp(&(b.lines.start, b.lines.end)))
    });
    let best = hits.first().map_or(0.0, |hit| hit.score);
    for (rank, hit) in hits.iter_mut().enumerate() {
        hit.score = if best > 0.0 { (hit.score / best).max(0.0) } else { 1.0 / (rank + 1) as f64 };
    }
}

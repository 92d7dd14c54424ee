//! The whole workspace, if it is small: every file, whole, by root and path. Source of the gates: VS Code Copilot Chat
//! 0.34; unlike there, the order does not depend on who was read first, and what was counted once is not counted again
//! until the index changes.

use rusqlite::Connection;

use super::answer::{Shown, Taker};
use super::question::Question;
use super::reader::View;
use crate::chunk::ChunkKind;
use crate::config::Config;
use crate::error::Error;
use crate::span::ByteRange;
use crate::store::FileRow;
use crate::task::CancelToken;
use crate::token::TokenCounter;

use super::types::Hit;

/// What came of it.
pub enum Whole {
    /// Every file.
    Shown(Shown),
    /// Too much of it; how much.
    TooLarge(String),
    /// Whole files are no answer to this question; why.
    Not(String),
}

/// Shows every file that the filters allow, if there are few and they have few tokens.
///
/// # Errors
/// [`Error::Store`], [`Error::Cancelled`].
pub fn whole(
    cancel: &CancelToken,
    view: &View,
    connection: &Connection,
    question: &Question<'_>,
    config: &Config,
) -> Result<Whole, Error> {
    let snapshot = &view.snapshot;
    let cascade = &config.settings.cascade;
    let max_tokens = question.request.token_budget.map_or(cascade.full_max_tokens, |budget| {
        cascade.full_max_tokens.min(budget.saturating_add(1))
    });
    let files: Vec<&FileRow> = snapshot
        .files
        .iter()
        .filter(|file| file.n_chunks > 0)
        .filter(|file| {
            question.filter.allows_file(
                snapshot.root_path(file.root),
                &file.meta.path,
                file.meta.language,
            )
        })
        .collect();
    if files.is_empty() {
        return Ok(Whole::Not("no file that the filters allow has text".into()));
    }
    if files.len() >= cascade.full_max_files {
        let n = files.len();
        let reason = format!("{n} files; fewer than {} are small", cascade.full_max_files);
        return Ok(Whole::TooLarge(reason));
    }
    if question.filter.has_kinds() {
        return Ok(Whole::Not("whole files are of no kind; a kind was asked for".into()));
    }
    // Each file is a hit, and all of them or none: some would not be the whole.
    if let Some(limit) = question.request.limit.filter(|limit| *limit < files.len()) {
        let n = files.len();
        return Ok(Whole::Not(format!("{n} files; limit is {limit}")));
    }
    // What is true of all files is no news until one of them changes.
    let is_all = question.filter.is_open();
    if is_all && view.least_tokens() >= max_tokens {
        return Ok(Whole::TooLarge(format!("{max_tokens} tokens or more, as counted before")));
    }
    let too_many = || {
        if is_all {
            view.note_tokens(max_tokens);
        }
        Ok(Whole::TooLarge(format!("{max_tokens} tokens or more")))
    };
    let counter = TokenCounter::new();
    let mut taker = Taker::new(question.request.token_budget);
    let mut n_tokens = 0;
    for file in files {
        cancel.check()?;
        let records = snapshot.records(connection, file)?;
        let end = records.iter().map(|record| record.bytes.end).max().unwrap_or(0);
        let lines = records.iter().map(|record| record.lines.end).max().unwrap_or(0);
        let mut text = snapshot.text(connection, file, ByteRange { start: 0, end })?;
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        // A text of many times the tokens is not counted to its end.
        let left = max_tokens - n_tokens;
        if !counter.fits(&text, left) {
            return too_many();
        }
        n_tokens += counter.count(&text);
        if n_tokens >= max_tokens {
            return too_many();
        }
        taker.add(Hit {
            root: snapshot.root_path(file.root).to_owned(),
            path: file.meta.path.clone(),
            start_line: 1,
            end_line: lines.max(1),
            kind: ChunkKind::FullFile.name(),
            name: None,
            language: file.meta.language,
            score: 1.0,
            text,
            explanation: Vec::new(),
        });
    }
    Ok(Whole::Shown(taker.finish()))
}

//! Reads, chunks, analyses and embeds files on several threads; one more writes.
//!
//! Every worker builds a segment of its own, so no order between workers matters; files go out in batches of
//! neighbours, because files of one folder share terms. Channels are bounded: a slow disk slows the workers instead of
//! filling the memory.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::builder::{Output, SegmentBuilder};
use super::progress::Meter;
use crate::chunk;
use crate::source::{self, Loaded, Notice};
use crate::store::{self, FileMeta, FileRow, RootId, SegmentId, SegmentSummary, Writer};
use crate::task::CancelToken;
use crate::token::TokenCounter;
use crate::walk::FileEntry;

/// Files a worker takes at once.
const BATCH_FILES: usize = 16;
/// Messages that may wait for the writer.
const QUEUE: usize = 64;
/// A transaction is committed after about this many bytes, so that the log stays small.
const COMMIT_BYTES: usize = 16 << 20;

/// What came of one file.
pub enum Outcome {
    /// Its content is as it was; only its stat changed.
    Same {
        /// Row of the file.
        id: i64,
        /// New stat.
        size: u64,
        /// New stat.
        mtime_ns: i64,
    },
    /// It was added to a staged segment.
    Indexed,
    /// It cannot be used.
    Skipped {
        /// Why.
        reason: String,
        /// Whether to try again next time even if it does not change.
        transient: bool,
    },
}

enum Message {
    Output(SegmentId, Output),
    Segment(Box<SegmentSummary>),
}

/// A file to be read, and the row that it may replace.
pub type Job<'a> = (&'a FileEntry, Option<&'a FileRow>);

/// How to work.
pub struct Resources {
    /// Threads that read.
    pub n_workers: usize,
    /// A worker finishes its segment at about this many bytes of memory.
    pub segment_bytes: usize,
    /// As in [`crate::config::Config`].
    pub use_syntax: bool,
    /// As in [`crate::config::Config`].
    pub use_vectors: bool,
}

/// Reads all `jobs` of `root` into staged segments. Gives each job's outcome, in the order of `jobs`; fewer if
/// `cancel` came in between, and then what was finished is staged all the same.
///
/// # Errors
/// [`store::StoreError`].
pub fn run(
    cancel: &CancelToken,
    meter: &Meter<'_>,
    writer: &mut Writer,
    root: (RootId, &Path),
    jobs: &[Job<'_>],
    resources: &Resources,
) -> store::Result<Vec<(usize, Outcome)>> {
    let next_job = AtomicUsize::new(0);
    let next_segment = AtomicI64::new(writer.next_segment()?);
    let stop = CancelToken::new();
    let n_workers = resources.n_workers.clamp(1, jobs.len().div_ceil(BATCH_FILES).max(1));
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(QUEUE);
        let workers: Vec<_> = (0..n_workers)
            .map(|_| {
                let worker = Worker {
                    cancel,
                    stop: &stop,
                    meter,
                    root: root.1,
                    jobs,
                    next_job: &next_job,
                    next_segment: &next_segment,
                    resources,
                    sender: sender.clone(),
                };
                scope.spawn(move || worker.work())
            })
            .collect();
        drop(sender);
        let written = write(writer, root.0, &receiver);
        if written.is_err() {
            // Workers must not wait for a writer that is gone.
            stop.cancel();
            drop(receiver);
        }
        let mut outcomes = Vec::with_capacity(jobs.len());
        for worker in workers {
            match worker.join() {
                Ok(done) => outcomes.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        written?;
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        Ok(outcomes)
    })
}

fn write(writer: &mut Writer, root: RootId, messages: &Receiver<Message>) -> store::Result<()> {
    let mut n_bytes = 0;
    for message in messages {
        match message {
            Message::Output(segment, Output::Text { row, data }) => {
                n_bytes += data.len();
                writer.add_text(segment, row, data)?;
            }
            Message::Output(segment, Output::Part { part, lengths, kinds, vectors }) => {
                n_bytes += vectors.len();
                writer.add_part(segment, part, lengths, kinds, vectors)?;
            }
            Message::Segment(summary) => {
                writer.add_segment(root, &summary)?;
                n_bytes = 0;
            }
        }
        if n_bytes > COMMIT_BYTES {
            writer.commit()?;
            n_bytes = 0;
        }
    }
    writer.commit()
}

struct Worker<'a> {
    cancel: &'a CancelToken,
    stop: &'a CancelToken,
    meter: &'a Meter<'a>,
    root: &'a Path,
    jobs: &'a [Job<'a>],
    next_job: &'a AtomicUsize,
    next_segment: &'a AtomicI64,
    resources: &'a Resources,
    sender: SyncSender<Message>,
}

impl Worker<'_> {
    fn work(self) -> Vec<(usize, Outcome)> {
        let counter = TokenCounter::new();
        let mut outcomes = Vec::new();
        let mut builder = self.new_segment();
        'batches: loop {
            let start = self.next_job.fetch_add(BATCH_FILES, Ordering::Relaxed);
            if start >= self.jobs.len() {
                break;
            }
            let end = (start + BATCH_FILES).min(self.jobs.len());
            for at in start..end {
                if self.cancel.is_cancelled() || self.stop.is_cancelled() {
                    break 'batches;
                }
                let (entry, row) = self.jobs[at];
                outcomes.push((at, self.index_file(entry, row, &counter, &mut builder)));
                self.meter.file_done(&entry.path);
            }
            if builder.n_bytes() > self.resources.segment_bytes {
                let full = std::mem::replace(&mut builder, self.new_segment());
                self.finish(full);
            }
        }
        self.finish(builder);
        outcomes
    }

    fn new_segment(&self) -> SegmentBuilder {
        let id = self.next_segment.fetch_add(1, Ordering::Relaxed);
        SegmentBuilder::new(id, self.resources.use_vectors)
    }

    fn finish(&self, builder: SegmentBuilder) {
        if builder.is_empty() {
            return;
        }
        let id = builder.id();
        let summary = builder.finish(&mut |output| self.send(Message::Output(id, output)));
        self.send(Message::Segment(Box::new(summary)));
    }

    /// A closed channel means that writing failed; the writer reports it, and `stop` ends the work.
    fn send(&self, message: Message) {
        if self.sender.send(message).is_err() {
            self.stop.cancel();
        }
    }

    fn index_file(
        &self,
        entry: &FileEntry,
        row: Option<&FileRow>,
        counter: &TokenCounter,
        builder: &mut SegmentBuilder,
    ) -> Outcome {
        let prepared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.prepare(entry, row, counter)
        }));
        let (file, chunks) = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(outcome)) => return outcome,
            // One file must not keep all others from being indexed.
            Err(_) => {
                let reason = "a bug in Sextant: reading or chunking it failed".to_owned();
                return Outcome::Skipped { reason, transient: false };
            }
        };
        let meta = FileMeta {
            path: entry.path.clone(),
            size: entry.size,
            mtime_ns: entry.mtime_ns,
            content_hash: file.content_hash,
            language: file.language.name(),
            is_generated: file.generated,
            is_truncated: file.notices.contains(&Notice::Truncated),
        };
        let id = builder.id();
        builder.add(meta, &file.text, &chunks, &mut |output| {
            self.send(Message::Output(id, output));
        });
        Outcome::Indexed
    }

    /// Reads and chunks a file; an outcome if there is nothing to add.
    fn prepare(
        &self,
        entry: &FileEntry,
        row: Option<&FileRow>,
        counter: &TokenCounter,
    ) -> Result<(source::SourceFile, Vec<chunk::Chunk>), Outcome> {
        let file = match source::load(&self.root.join(&entry.path), &entry.path) {
            Loaded::Text(file) => file,
            Loaded::Skipped { reason, transient } => {
                return Err(Outcome::Skipped { reason, transient });
            }
        };
        if let Some(row) = row.filter(|row| row.meta.content_hash == file.content_hash) {
            let (size, mtime_ns) = (entry.size, entry.mtime_ns);
            return Err(Outcome::Same { id: row.id, size, mtime_ns });
        }
        let chunks = if self.resources.use_syntax {
            chunk::chunk(&entry.path, file.language, &file.text, counter)
        } else {
            chunk::chunk_lines(&entry.path, &file.text, counter)
        };
        Ok((file, chunks))
    }
}

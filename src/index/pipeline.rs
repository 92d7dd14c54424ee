//! Which threads do the work of a run, and in what order does it reach the disk?
//!
//! In: the files to read. Out: staged segments, and what came of each file, in the order of the files. Each thread reads,
//! chunks, analyses and embeds whole files into a segment of its own and writes it itself, so no order between threads
//! matters and no thread works but these. A thread whose turn to write has not come holds some output back and goes on;
//! beyond that it waits, so that a slow disk slows the work instead of filling the memory.
//!
//! One file that cannot be read, or that makes the program panic, is an outcome. Fails with [`store::StoreError`]; the
//! first failure stops all threads.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use super::builder::{Output, SegmentBuilder, Vectors};
use super::embedding::vectors_key;
use super::progress::Meter;
use super::resources::Resources;
use super::threads;
use crate::chunk;
use crate::source::{self, Loaded, Notice};
use crate::store::{self, FileMeta, FileRow, RootId, SegmentId, Writer};
use crate::task::CancelToken;
use crate::token::TokenCounter;
use crate::walk::FileEntry;

/// Where the vectors of a file came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It has none.
    Nowhere,
    /// The model.
    Model,
    /// The cache.
    Cache,
}

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
    Indexed(Source),
    /// It cannot be used.
    Skipped {
        /// Why.
        reason: String,
        /// Whether to try again next time even if it does not change.
        transient: bool,
    },
}

/// A file to be read, and the row that it may replace.
pub type Job<'a> = (&'a FileEntry, Option<&'a FileRow>);

/// Outcomes by number of the job.
type Outcomes = Vec<(usize, Outcome)>;

/// Reads all `jobs` of `root` into staged segments; `is_first`: nothing of it can be searched yet. Gives each job's outcome, in the order of `jobs`; fewer if
/// `cancel` came in between, and then what was finished is staged all the same.
///
/// # Errors
/// [`store::StoreError`].
pub fn run(
    cancel: &CancelToken,
    meter: &Meter<'_>,
    writer: &mut Writer,
    root: (RootId, &Path),
    (jobs, is_first): (&[Job<'_>], bool),
    resources: &Resources<'_>,
) -> store::Result<Outcomes> {
    let run = Run {
        cancel,
        stop: CancelToken::new(),
        meter,
        root,
        jobs,
        resources,
        next_job: AtomicUsize::new(0),
        next_segment: AtomicI64::new(writer.next_segment()?),
        writer: Mutex::new(writer),
    };
    let worked = if jobs.len() <= resources.small_run_files {
        run.work(resources.segment_bytes)
    } else {
        run.work_on_threads(is_first && jobs.len() <= resources.first_run_files)
    };
    if let Some(cache) = resources.cache {
        cache.flush();
    }
    let mut outcomes = worked?;
    run.writer().commit()?;
    outcomes.sort_unstable_by_key(|(at, _)| *at);
    Ok(outcomes)
}

/// Writes what is pending; the writer commits now and then by itself.
fn write(writer: &mut Writer, pending: &mut Pending) -> store::Result<()> {
    let id = pending.segment;
    pending.n_bytes = 0;
    for output in pending.outputs.drain(..) {
        match output {
            Output::Text { row, data } => writer.add_text(id, row, data)?,
            Output::Part { part, lengths, kinds, vectors } => {
                writer.add_part(id, part, lengths, kinds, vectors)?;
            }
        }
    }
    Ok(())
}

/// Output of a segment that is not written yet.
struct Pending {
    segment: SegmentId,
    outputs: Vec<Output>,
    n_bytes: usize,
}

impl Pending {
    fn push(&mut self, output: Output) {
        self.n_bytes += output.n_bytes();
        self.outputs.push(output);
    }
}

/// A segment in the making.
struct Segment {
    builder: SegmentBuilder,
    started: Instant,
    pending: Pending,
}

impl Segment {
    fn is_full(&self, resources: &Resources<'_>, segment_bytes: usize) -> bool {
        !self.builder.is_empty()
            && (self.builder.n_bytes() > segment_bytes
                || self.started.elapsed() >= resources.segment_age)
    }
}

/// What the threads of a run share.
struct Run<'a> {
    cancel: &'a CancelToken,
    /// Set by the first thread that fails.
    stop: CancelToken,
    meter: &'a Meter<'a>,
    root: (RootId, &'a Path),
    jobs: &'a [Job<'a>],
    resources: &'a Resources<'a>,
    next_job: AtomicUsize,
    next_segment: AtomicI64,
    /// The one way to the database.
    writer: Mutex<&'a mut Writer>,
}

impl<'a> Run<'a> {
    /// Works on threads of low priority, and waits for them. Even a single one is not the calling thread, whose priority
    /// could not be raised again. If somebody waits for it, `n_workers` of them keep the priority of the caller.
    fn work_on_threads(&self, is_awaited: bool) -> store::Result<Outcomes> {
        let n_batches = self.jobs.len().div_ceil(self.resources.batch_files);
        let (n_workers, n_awaited) = match is_awaited {
            true => (self.resources.n_first_run_workers, self.resources.n_workers),
            false => (self.resources.n_workers, 0),
        };
        // More threads share the same memory.
        let segment_bytes = self.resources.segment_bytes * self.resources.n_workers / n_workers;
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers.min(n_batches))
                .map_while(|nth| {
                    let thread = std::thread::Builder::new().name(threads::NAME.to_owned());
                    let work = move || {
                        if nth >= n_awaited {
                            threads::lower_priority();
                        }
                        self.work(segment_bytes)
                    };
                    thread.spawn_scoped(scope, work).ok()
                })
                .collect();
            if workers.is_empty() {
                // The system has no thread left to give.
                return self.work(segment_bytes);
            }
            let mut outcomes = Ok(Vec::with_capacity(self.jobs.len()));
            for worker in workers {
                let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                match (&mut outcomes, done) {
                    (Ok(all), Ok(done)) => all.extend(done),
                    (Ok(_), Err(error)) => outcomes = Err(error),
                    (Err(_), _) => {}
                }
            }
            outcomes
        })
    }

    fn work(&self, segment_bytes: usize) -> store::Result<Outcomes> {
        let result = self.index_batches(segment_bytes);
        if result.is_err() {
            self.stop.cancel();
        }
        result
    }

    fn index_batches(&self, segment_bytes: usize) -> store::Result<Outcomes> {
        let counter = TokenCounter::new();
        let mut outcomes = Vec::new();
        let mut segment = self.new_segment();
        'batches: loop {
            let start = self.next_job.fetch_add(self.resources.batch_files, Ordering::Relaxed);
            if start >= self.jobs.len() {
                break;
            }
            let end = (start + self.resources.batch_files).min(self.jobs.len());
            for at in start..end {
                if self.stop.is_cancelled() {
                    return Ok(outcomes);
                }
                if self.cancel.is_cancelled() {
                    break 'batches;
                }
                let (entry, row) = self.jobs[at];
                outcomes.push((at, self.index_file(entry, row, &counter, &mut segment)));
                self.write(&mut segment.pending)?;
                self.meter.file_done(&entry.path);
            }
            if segment.is_full(self.resources, segment_bytes) {
                let full = std::mem::replace(&mut segment, self.new_segment());
                self.finish(full)?;
            }
        }
        self.finish(segment)?;
        Ok(outcomes)
    }

    fn new_segment(&self) -> Segment {
        let id = self.next_segment.fetch_add(1, Ordering::Relaxed);
        Segment {
            builder: SegmentBuilder::new(id, self.resources.use_vectors),
            started: Instant::now(),
            pending: Pending { segment: id, outputs: Vec::new(), n_bytes: 0 },
        }
    }

    /// Writes what the segment has ready, unless another thread is writing and it is little.
    fn write(&self, pending: &mut Pending) -> store::Result<()> {
        if pending.outputs.is_empty() {
            return Ok(());
        }
        if pending.n_bytes > self.resources.pending_bytes {
            return write(&mut self.writer(), pending);
        }
        match self.writer.try_lock() {
            Ok(mut writer) => write(&mut writer, pending),
            Err(TryLockError::Poisoned(writer)) => write(&mut writer.into_inner(), pending),
            Err(TryLockError::WouldBlock) => Ok(()),
        }
    }

    fn finish(&self, segment: Segment) -> store::Result<()> {
        let Segment { builder, mut pending, .. } = segment;
        if builder.is_empty() {
            return Ok(());
        }
        // Terms are sorted before the turn to write has come, so that others may write meanwhile.
        let summary = builder.finish(&mut |output| pending.push(output));
        let mut writer = self.writer();
        write(&mut writer, &mut pending)?;
        writer.add_segment(self.root.0, &summary)
    }

    /// A thread that panicked leaves a segment without its end, which readers never see.
    fn writer(&self) -> MutexGuard<'_, &'a mut Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_file(
        &self,
        entry: &FileEntry,
        row: Option<&FileRow>,
        counter: &TokenCounter,
        segment: &mut Segment,
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
        let cached = self.resources.cache.map(|cache| {
            let profile = &self.resources.profile;
            (cache, vectors_key(profile, &entry.path, file.content_hash, &chunks))
        });
        // A file without chunks has no vectors.
        let known = cached.filter(|_| !chunks.is_empty()).and_then(|(cache, key)| cache.get(key));
        let Segment { builder, pending, .. } = segment;
        let emit = &mut |output| pending.push(output);
        let source = match builder.add(meta, &file.text, &chunks, known.as_deref(), emit) {
            Vectors::None => Source::Nowhere,
            Vectors::Known => Source::Cache,
            Vectors::Computed(vectors) => {
                if let Some((cache, key)) = cached {
                    cache.put(key, vectors);
                }
                Source::Model
            }
        };
        Outcome::Indexed(source)
    }

    /// Reads and chunks a file; an outcome if there is nothing to add.
    fn prepare(
        &self,
        entry: &FileEntry,
        row: Option<&FileRow>,
        counter: &TokenCounter,
    ) -> Result<(source::SourceFile, Vec<chunk::Chunk>), Outcome> {
        let file = match source::load(&self.root.1.join(&entry.path), &entry.path) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::resources::resources;
    use super::*;
    use crate::config::{Config, PerformanceMode};
    use crate::store::Database;
    use crate::task::{NoProgress, Phase};

    /// Indexes 12 files with `change` made to the resources; gives the number of segments.
    #[track_caller]
    fn check_segments(change: impl Fn(&mut Resources<'_>)) -> i64 {
        let folder = tempfile::tempdir().unwrap();
        let entries: Vec<FileEntry> = (0..12)
            .map(|at| {
                let path = format!("part_{at:02}.rs");
                std::fs::write(folder.path().join(&path), format!("fn part_{at}() {{}}\n"))
                    .unwrap();
                FileEntry { path, size: 1, mtime_ns: 1 }
            })
            .collect();
        let jobs: Vec<Job<'_>> = entries.iter().map(|entry| (entry, None)).collect();
        let mut config = Config::standard();
        config.settings.vector_db.performance_mode = PerformanceMode::Memory;
        let database =
            Database::prepare(&folder.path().join("storage"), &config.profile()).unwrap();
        let cancel = CancelToken::new();
        let lock = database.lock(&cancel, Duration::ZERO).unwrap().unwrap();
        let mut writer = Writer::open(&database, lock).unwrap();
        let root = writer.root("root").unwrap();
        let meter = Meter::start(&NoProgress, Phase::Index, 12);
        let mut resources = resources(&config, None);
        change(&mut resources);
        let outcomes =
            run(&cancel, &meter, &mut writer, (root, folder.path()), (&jobs, true), &resources)
                .unwrap();
        let numbers: Vec<usize> = outcomes.iter().map(|(at, _)| *at).collect();
        assert_eq!(numbers, Vec::from_iter(0..12));
        assert!(outcomes.iter().all(|(_, outcome)| matches!(outcome, Outcome::Indexed(_))));
        assert_eq!(writer.staged(root).unwrap().len(), 12);
        writer
            .connection()
            .query_row("SELECT count(*) FROM segments", [], |row| row.get(0))
            .unwrap()
    }

    /// What is finished survives the process.
    #[test]
    fn a_segment_ends_when_it_is_old_or_large() {
        assert_eq!(check_segments(|_| {}), 1);
        assert_eq!(check_segments(|resources| resources.segment_age = Duration::ZERO), 3);
        assert_eq!(check_segments(|resources| resources.segment_bytes = 0), 3);
    }

    #[test]
    fn threads_write_their_own_segments() {
        let n_segments = check_segments(|resources| {
            resources.small_run_files = 0;
            resources.n_workers = 3;
            resources.pending_bytes = 0;
        });
        assert!((1..=3).contains(&n_segments), "{n_segments}");
    }
}

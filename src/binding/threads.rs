//! Where calls run: not on the JavaScript thread, and not on libuv's four threads, which Node's own file and DNS calls
//! share.
//!
//! Short calls share a few threads that are started once per process. A long call gets a thread of its own, so that it
//! never stands in the way of a search.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// How long a call is expected to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Milliseconds.
    Short,
    /// As long as it takes to read a workspace.
    Long,
}

/// Deeply nested sources recurse deeply; address space is cheap, and only what is touched is used.
const STACK_BYTES: usize = 16 << 20;

/// Threads for short calls, at most. Unmeasured: a search itself may use several threads.
const MAX_SHORT_THREADS: usize = 4;

static SHORT: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// Runs `job` on some thread. Must not panic.
///
/// # Errors
/// The system does not give us a thread.
pub fn spawn(length: Length, job: Job) -> io::Result<()> {
    match length {
        Length::Long => start("sextant-run", job),
        Length::Short => {
            let mut sender = SHORT.lock().unwrap_or_else(PoisonError::into_inner);
            let queue = match sender.take() {
                Some(queue) => queue,
                None => start_short_threads()?,
            };
            let sent = queue.send(job);
            *sender = Some(queue);
            sent.map_err(|_| io::Error::other("its threads are gone"))
        }
    }
}

fn start_short_threads() -> io::Result<Sender<Job>> {
    let (sender, receiver) = channel::<Job>();
    let receiver = Arc::new(Mutex::new(receiver));
    let n_threads = thread::available_parallelism().map_or(2, Into::into).min(MAX_SHORT_THREADS);
    for started in 0..n_threads {
        let receiver = Arc::clone(&receiver);
        let result = start("sextant-call", Box::new(move || work_off(&receiver)));
        // One thread is enough to go on with.
        if started == 0 {
            result?;
        }
    }
    Ok(sender)
}

fn work_off(receiver: &Mutex<Receiver<Job>>) {
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

fn start(name: &str, job: Job) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(job).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_run_their_jobs() {
        for length in [Length::Short, Length::Long, Length::Short] {
            let (sender, receiver) = channel();
            spawn(length, Box::new(move || sender.send(thread::current().id()).unwrap())).unwrap();
            assert_ne!(receiver.recv().unwrap(), thread::current().id());
        }
    }
}

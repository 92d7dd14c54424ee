//! Calls that end, fail, hang and panic.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::super::call::{self, Call};
use super::super::error::RemoteError;
use crate::task::CancelToken;

/// A call that returns only when the test is over.
fn hanging(never: &CancelToken) -> Call<u32> {
    let never = never.clone();
    Box::new(move |_| {
        call::wait(&never, Duration::from_secs(600));
        Ok(0)
    })
}

#[test]
fn results_are_in_the_order_of_the_calls_and_hangs_are_left_behind() {
    let over = CancelToken::new();
    let refused = RemoteError::Refused { status: 500, reason: "x".into() };
    let error = refused.clone();
    let calls: Vec<Call<u32>> =
        vec![hanging(&over), Box::new(|_| Ok(1)), Box::new(move |_| Err(error))];
    let results = call::all(&CancelToken::new(), 500, calls);
    assert_eq!(results, [Err(RemoteError::TimedOut { limit_ms: 500 }), Ok(1), Err(refused)]);
    over.cancel();
}

#[test]
fn a_panic_is_a_bad_answer() {
    let calls: Vec<Call<u32>> = vec![Box::new(|_| std::panic::resume_unwind(Box::new(())))];
    let results = call::all(&CancelToken::new(), 60_000, calls);
    assert_eq!(results[0].as_ref().unwrap_err().code(), "REMOTE_BAD_ANSWER");
}

#[test]
fn cancelling_frees_the_caller_and_tells_the_calls() {
    let (over, cancel) = (CancelToken::new(), CancelToken::new());
    let (started, has_started) = mpsc::channel();
    let (told, was_told) = mpsc::channel();
    let listens: Call<u32> = Box::new(move |token| {
        started.send(()).unwrap();
        call::wait(token, Duration::from_secs(600));
        told.send(token.is_cancelled()).unwrap();
        Err(RemoteError::Cancelled)
    });
    let begun = Instant::now();
    let results = std::thread::scope(|scope| {
        let all = scope.spawn(|| call::all(&cancel, 600_000, vec![hanging(&over), listens]));
        has_started.recv().unwrap();
        cancel.cancel();
        all.join().unwrap()
    });
    assert_eq!(results[0], Err(RemoteError::Cancelled));
    assert!(was_told.recv().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(60));
    over.cancel();
}

#[test]
fn no_calls_give_no_results() {
    assert!(call::all::<u32>(&CancelToken::new(), 0, Vec::new()).is_empty());
}

//! How fast are texts embedded by a server, and how many requests are wasted on one that limits?
//!
//! `cargo run --release -p sextant-benches --bin embedding`. The server runs in this process and answers after 50 ms.
//! References, measured in the same run: the ideal of eight requests always in flight, and one request at a time,
//! which is extrapolated from its first requests. The second run meets a server that allows 20 requests a second.
#![allow(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sextant::embed::provider::{Embedder, HttpEmbedder, HttpProvider, ProviderKind, Role};
use sextant::task::CancelToken;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const N_TEXTS: usize = 10_000;
const DIMENSIONS: usize = 256;
const LATENCY: Duration = Duration::from_millis(50);
const BATCH: usize = 64;
/// `vectorDb.batchSize` where nobody sets it.
const STANDARD_BATCH: usize = 10;
const IN_FLIGHT: usize = 8;
/// Requests of the reference that sends one at a time.
const N_ALONE: usize = 40;
/// Of the server that limits: requests a second, and how many may come at once.
const ALLOWED_PER_SECOND: f64 = 20.0;
const ALLOWED_AT_ONCE: f64 = 10.0;

/// What a server counts.
#[derive(Default)]
struct Counts {
    answered: AtomicUsize,
    refused: AtomicUsize,
}

/// Allows so many requests a second (a token bucket).
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn take(&mut self) -> bool {
        let gained = self.at.elapsed().as_secs_f64() * ALLOWED_PER_SECOND;
        self.left = (self.left + gained).min(ALLOWED_AT_ONCE);
        self.at = Instant::now();
        let allowed = self.left >= 1.0;
        if allowed {
            self.left -= 1.0;
        }
        allowed
    }
}

/// Starts a server; it lives as long as the process.
fn start(is_limited: bool) -> Outcome<(String, Arc<Counts>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let counts = Arc::new(Counts::default());
    let bucket = Arc::new(Mutex::new(Bucket { left: ALLOWED_AT_ONCE, at: Instant::now() }));
    let shared = Arc::clone(&counts);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (counts, bucket) = (Arc::clone(&shared), Arc::clone(&bucket));
            // A connection ends when the client closes it.
            thread::spawn(move || serve(stream, &counts, is_limited.then_some(&*bucket)));
        }
    });
    Ok((url, counts))
}

fn serve(stream: TcpStream, counts: &Counts, bucket: Option<&Mutex<Bucket>>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    let numbers: Vec<String> = (0..DIMENSIONS).map(|n| format!("0.0{n:03}1234")).collect();
    let item = format!("{{\"embedding\":[{}]}}", numbers.join(","));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().ok()?;
                }
                _ if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request: serde_json::Value = serde_json::from_slice(&body).ok()?;
        let n_texts = request.get("input")?.as_array()?.len();
        let allowed = bucket
            .is_none_or(|bucket| bucket.lock().unwrap_or_else(PoisonError::into_inner).take());
        let (status, body) = if allowed {
            counts.answered.fetch_add(1, Ordering::Relaxed);
            thread::sleep(LATENCY);
            (200, format!("{{\"data\":[{}]}}", vec![item.as_str(); n_texts].join(",")))
        } else {
            counts.refused.fetch_add(1, Ordering::Relaxed);
            (429, "{\"error\":\"slow down\"}".to_owned())
        };
        let head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n\r\n", body.len());
        reader.get_mut().write_all((head + &body).as_bytes()).ok()?;
    }
}

/// Texts of the length of chunks, about 200 tokens each.
fn texts(n: usize) -> Vec<String> {
    let text = |n: usize| {
        let line = |l: usize| format!("    let value_{l} = compute({n}, {l}, \"part {l}\")?;\n");
        format!(
            "fn number_{n}() -> Result<usize, Error> {{\n{}}}\n",
            (0..12).map(line).collect::<String>()
        )
    };
    (0..n).map(text).collect()
}

struct Measured {
    seconds: f64,
    answered: usize,
    refused: usize,
}

fn measure(
    is_limited: bool,
    n_texts: usize,
    change: impl Fn(HttpProvider) -> HttpProvider,
) -> Outcome<Measured> {
    let (url, counts) = start(is_limited)?;
    let settings = HttpProvider {
        base_url: Some(url),
        batch_size: BATCH,
        ..HttpProvider::new(ProviderKind::OpenAi, "local", "mock")
    };
    let embedder = HttpEmbedder::new(change(settings))?;
    let texts = texts(n_texts);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut n_vectors = 0;
    let start = Instant::now();
    embedder.embed(&CancelToken::new(), Role::Document, &texts, &mut |_, result| {
        n_vectors += usize::from(result.is_ok());
    })?;
    let seconds = start.elapsed().as_secs_f64();
    if n_vectors != n_texts {
        return Err(format!("{n_vectors} vectors for {n_texts} texts").into());
    }
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    Ok(Measured { seconds, answered: count(&counts.answered), refused: count(&counts.refused) })
}

fn report(name: &str, found: &Measured, n_texts: usize, ideal: f64) {
    let rate = n_texts as f64 / found.seconds;
    println!(
        "{name:<34} {:>7.2} s {rate:>8.0} texts/s {:>5} requests {:>4} wasted {:>6.2} x ideal ({ideal:.2} s)",
        found.seconds,
        found.answered + found.refused,
        found.refused,
        found.seconds / ideal,
    );
}

fn main() -> Outcome<()> {
    println!(
        "{N_TEXTS} texts, batches of {BATCH}, {} ms latency, {DIMENSIONS} dimensions",
        LATENCY.as_millis()
    );
    let n_requests = N_TEXTS.div_ceil(BATCH) as f64;

    let alone = measure(false, N_ALONE * BATCH, |s| HttpProvider { max_concurrent: 1, ..s })?;
    let alone_all = alone.seconds * n_requests / N_ALONE as f64;

    let latency_ideal = n_requests / IN_FLIGHT as f64 * LATENCY.as_secs_f64();
    let free = measure(false, N_TEXTS, |s| HttpProvider { per_second: 1000.0, ..s })?;
    report("8 in flight, no rate", &free, N_TEXTS, latency_ideal);

    let usual = measure(false, N_TEXTS, |s| s)?;
    let rate_ideal = latency_ideal.max(n_requests / 40.0);
    report("8 in flight, 40 a second (usual)", &usual, N_TEXTS, rate_ideal);
    println!(
        "one at a time: {alone_all:.2} s, extrapolated from {N_ALONE} requests: {:.1} and {:.1} times as long",
        alone_all / free.seconds,
        alone_all / usual.seconds
    );

    let limited = measure(true, N_TEXTS, |s| s)?;
    let limited_ideal = (n_requests - ALLOWED_AT_ONCE) / ALLOWED_PER_SECOND;
    report("server allows 20 a second", &limited, N_TEXTS, limited_ideal);

    println!("batches of {STANDARD_BATCH}, as the settings have it");
    let n_requests = N_TEXTS.div_ceil(STANDARD_BATCH) as f64;
    let small = |s| HttpProvider { batch_size: STANDARD_BATCH, ..s };
    report("40 a second", &measure(false, N_TEXTS, small)?, N_TEXTS, n_requests / 40.0);
    let limited_ideal = (n_requests - ALLOWED_AT_ONCE) / ALLOWED_PER_SECOND;
    report("server allows 20 a second", &measure(true, N_TEXTS, small)?, N_TEXTS, limited_ideal);
    Ok(())
}

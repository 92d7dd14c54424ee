//! A server that stands in for an embedding service: it answers as it is told and remembers what it was asked.
//!
//! A vector follows from the text alone, so that a test knows which is right. It listens on this machine only.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Dimensions of a vector, unless a test says otherwise.
pub const DIMENSIONS: usize = 8;

/// How an encrypted connection begins.
const TLS_HANDSHAKE: u8 = 0x16;

/// The vector that a model gives for a text; not one long.
pub fn vector_of(text: &str, dimensions: usize) -> Vec<f32> {
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    (0..dimensions).map(|_| next() * 3.0).collect()
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub at: Instant,
    /// Which request of the server it is, from 0.
    pub nth: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The texts, in either protocol.
    pub fn texts(&self) -> Vec<String> {
        let own = |value: &Value| value.as_str().unwrap().to_owned();
        match &self.body["input"] {
            Value::Array(texts) => texts.iter().map(own).collect(),
            _ => {
                let requests = self.body["requests"].as_array().unwrap();
                requests.iter().map(|one| own(&one["content"]["parts"][0]["text"])).collect()
            }
        }
    }
}

/// What a server does about a request.
pub enum Reply {
    /// Status, further headers, body.
    Whole(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// As `Whole` with 200, after a while.
    Late(Duration, Vec<u8>),
    /// Nothing, until the client goes away.
    Hang,
    /// The headers, then a byte now and then, until the client goes away.
    Drip,
    /// Half of this body, though the headers promise all of it.
    Cut(Vec<u8>),
    /// The end of the connection.
    Reset,
}

/// The items of an answer in OpenAI's protocol, right in every way.
pub fn items(seen: &Seen, dimensions: usize) -> Vec<Value> {
    let item = |(index, text): (usize, String)| {
        let vector = vector_of(&text, dimensions);
        json!({ "object": "embedding", "index": index, "embedding": vector })
    };
    seen.texts().into_iter().enumerate().map(item).collect()
}

/// An answer with these items.
pub fn data(items: Vec<Value>) -> Reply {
    let body = json!({ "object": "list", "data": items, "model": "m" });
    Reply::Whole(200, Vec::new(), body.to_string().into_bytes())
}

/// A right answer.
pub fn ok(seen: &Seen) -> Reply {
    data(items(seen, DIMENSIONS))
}

/// The body of a right answer.
pub fn ok_body(seen: &Seen) -> Vec<u8> {
    match ok(seen) {
        Reply::Whole(_, _, body) => body,
        _ => Vec::new(),
    }
}

/// Another status, with these words.
pub fn status(status: u16, body: &str) -> Reply {
    Reply::Whole(status, Vec::new(), body.as_bytes().to_vec())
}

type Behaviour = dyn Fn(&Seen) -> Reply + Send + Sync;

struct State {
    behaviour: Box<Behaviour>,
    log: Mutex<Vec<Seen>>,
    n_requests: AtomicUsize,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    arrivals: Mutex<Sender<usize>>,
    is_over: AtomicBool,
    tls: Option<Arc<rustls::ServerConfig>>,
}

/// A running server.
pub struct Server {
    pub address: SocketAddr,
    state: Arc<State>,
    arrivals: Receiver<usize>,
}

impl Server {
    pub fn start(behaviour: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_with(None, behaviour)
    }

    pub fn start_with(
        tls: Option<Arc<rustls::ServerConfig>>,
        behaviour: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, arrivals) = channel();
        let state = Arc::new(State {
            behaviour: Box::new(behaviour),
            log: Mutex::default(),
            n_requests: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            arrivals: Mutex::new(sender),
            is_over: AtomicBool::new(false),
            tls,
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), state) = (stream, Arc::clone(&shared)) else { continue };
                thread::spawn(move || serve(&state, stream));
            }
        });
        Self { address, state, arrivals }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests until now.
    pub fn log(&self) -> Vec<Seen> {
        self.state.log.lock().unwrap().clone()
    }

    pub fn most_in_flight(&self) -> usize {
        self.state.most_in_flight.load(Ordering::Relaxed)
    }

    /// Waits until so many requests have arrived since the last call.
    pub fn await_requests(&self, n: usize) {
        for _ in 0..n {
            self.arrivals.recv_timeout(Duration::from_secs(20)).expect("a request arrives");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

trait Connection: Read + Write + Send {}
impl<T: Read + Write + Send> Connection for T {}

fn serve(state: &State, tcp: TcpStream) {
    let control = tcp.try_clone().unwrap();
    tcp.set_nodelay(true).unwrap();
    let stream: Box<dyn Connection> = match &state.tls {
        None => Box::new(tcp),
        Some(config) => {
            let connection = rustls::ServerConnection::new(Arc::clone(config)).unwrap();
            Box::new(rustls::StreamOwned::new(connection, tcp))
        }
    };
    let mut stream = BufReader::new(stream);
    // What is no HTTP gets what servers answer to it.
    if stream.fill_buf().is_ok_and(|bytes| bytes.first() == Some(&TLS_HANDSHAKE)) {
        let _ = write_answer(stream.get_mut(), 400, &[], b"");
        return;
    }
    while let Some(seen) = read_request(state, &mut stream) {
        state.log.lock().unwrap().push(seen.clone());
        let now = state.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        state.most_in_flight.fetch_max(now, Ordering::Relaxed);
        let _ = state.arrivals.lock().unwrap().send(seen.nth);
        let reply = (state.behaviour)(&seen);
        let goes_on = answer(stream.get_mut(), &control, reply);
        state.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !goes_on {
            let _ = control.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// The first line and the headers of a message.
pub fn read_head(stream: &mut impl BufRead) -> Option<(String, Vec<(String, String)>)> {
    let mut first = String::new();
    if stream.read_line(&mut first).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    Some((first.trim_end().to_owned(), headers))
}

fn read_request(state: &State, stream: &mut impl BufRead) -> Option<Seen> {
    let (first, headers) = read_head(stream)?;
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let nth = state.n_requests.fetch_add(1, Ordering::Relaxed);
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Seen { path, headers, body, at: Instant::now(), nth })
}

/// Answers. Returns whether the connection goes on.
fn answer(stream: &mut dyn Connection, control: &TcpStream, reply: Reply) -> bool {
    let until_gone = || {
        let mut stream = control.try_clone().unwrap();
        while stream.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
    };
    let written = match reply {
        Reply::Whole(status, headers, body) => write_answer(stream, status, &headers, &body),
        Reply::Late(after, body) => {
            thread::sleep(after);
            write_answer(stream, 200, &[], &body)
        }
        Reply::Hang => {
            until_gone();
            return false;
        }
        Reply::Drip => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
            while stream.write_all(b" ").and_then(|()| stream.flush()).is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
            return false;
        }
        Reply::Cut(body) => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body[..body.len() / 2]);
            let _ = stream.flush();
            return false;
        }
        Reply::Reset => return false,
    };
    written.is_ok()
}

fn write_answer(
    stream: &mut dyn Connection,
    status: u16,
    headers: &[(&'static str, String)],
    body: &[u8],
) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())?;
    stream.flush()
}

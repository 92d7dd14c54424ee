//! A server over HTTP on this machine that does what a test says.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with a status and a body.
    Says(u16, String),
    /// Answers nothing until the server ends.
    Hangs,
    /// Announces a body and sends a byte of it now and then.
    Drips,
    /// Announces a longer body than it sends.
    Cuts(String),
    /// Sends what is no HTTP.
    Babbles,
    /// Closes the connection.
    HangsUp,
}

impl Reply {
    pub fn ok(body: &serde_json::Value) -> Self {
        Self::Says(200, body.to_string())
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// Such as `status/acme/app`.
    pub route: String,
    pub body: String,
}

#[derive(Default)]
struct State {
    /// By route: what comes next; the last comes for ever.
    replies: HashMap<String, Vec<Reply>>,
    requests: Vec<Request>,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Ends with all its connections when it is dropped.
pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<Shared>::default();
        let of_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if of_thread.state.lock().unwrap().is_over {
                    break;
                }
                let shared = Arc::clone(&of_thread);
                // A client that goes away in the middle is none of our business.
                connections.push(thread::spawn(move || drop(serve(&shared, stream.unwrap()))));
            }
            for connection in connections {
                connection.join().unwrap();
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// Says what comes of requests of `route`, one after another.
    pub fn on(&self, route: &str, replies: &[Reply]) {
        let mut state = self.shared.state.lock().unwrap();
        state.replies.insert(route.to_owned(), replies.to_vec());
    }

    /// Bodies of the requests of a route.
    pub fn requests(&self, route: &str) -> Vec<String> {
        let state = self.shared.state.lock().unwrap();
        let of_route = state.requests.iter().filter(|request| request.route == route);
        of_route.map(|request| request.body.clone()).collect()
    }

    /// Waits until there was a request of a route.
    pub fn wait_for(&self, route: &str) {
        let mut state = self.shared.state.lock().unwrap();
        while !state.requests.iter().any(|request| request.route == route) {
            state = self.shared.changed.wait(state).unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().is_over = true;
        self.shared.changed.notify_all();
        // The listener looks up when somebody comes.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let Some(route) = first.split(' ').nth(1) else { return Ok(()) };
    let request = Request {
        route: route.trim_start_matches('/').to_owned(),
        body: String::from_utf8(body).unwrap(),
    };
    match next_reply(shared, request) {
        Reply::Says(status, body) => write!(
            stream,
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Reply::Cuts(body) => write!(
            stream,
            "HTTP/1.1 200 x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len() + 100
        ),
        Reply::Babbles => stream.write_all(b"hello\r\n\r\n"),
        Reply::HangsUp => Ok(()),
        Reply::Hangs => {
            let state = shared.state.lock().unwrap();
            drop(shared.changed.wait_while(state, |state| !state.is_over).unwrap());
            Ok(())
        }
        Reply::Drips => {
            write!(stream, "HTTP/1.1 200 x\r\ncontent-length: 1000000\r\n\r\n")?;
            let pause = Duration::from_millis(1);
            loop {
                stream.write_all(b" ")?;
                let state = shared.state.lock().unwrap();
                let (state, _) = shared.changed.wait_timeout(state, pause).unwrap();
                if state.is_over {
                    return Ok(());
                }
            }
        }
    }
}

/// Notes a request and says what comes of it.
fn next_reply(shared: &Shared, request: Request) -> Reply {
    let mut state = shared.state.lock().unwrap();
    let reply = match state.replies.get_mut(&request.route) {
        Some(replies) if replies.len() > 1 => replies.remove(0),
        Some(replies) => replies[0].clone(),
        None => Reply::Says(404, "{}".into()),
    };
    state.requests.push(request);
    shared.changed.notify_all();
    reply
}

//! All that a server costs: one implementation of [`RemoteIndex`].

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::remote::{
    RemoteAnswer, RemoteError, RemoteHit, RemoteIndex, RemoteQuery, RemoteStatus, Repository,
};
use sextant::span::LineRange;
use sextant::task::CancelToken;

/// Longest answer that is read.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// What no message may hold.
pub const TOKEN: &str = "hidden-token";

/// A server of these tests.
#[derive(Debug)]
pub struct TestRemote {
    agent: ureq::Agent,
    address: SocketAddr,
}

impl TestRemote {
    /// Gives up a request after a time that is longer than any test: the limits are the caller's.
    pub fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(120)))
            .http_status_as_error(false)
            .proxy(None)
            .build();
        Self { agent: config.into(), address }
    }

    /// Asks, and reads the answer as JSON.
    fn ask(&self, route: &str, body: Option<&Value>) -> Result<Value, RemoteError> {
        let url = format!("http://{}/{route}", self.address);
        let authorization = format!("Bearer {TOKEN}");
        let sent = match body {
            None => self.agent.get(url).header("authorization", &authorization).call(),
            Some(body) => {
                self.agent.post(url).header("authorization", &authorization).send(body.to_string())
            }
        };
        let mut response = sent.map_err(|error| failure(&error))?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            return Err(RemoteError::Refused { status, reason: "see its log".into() });
        }
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_string()
            .map_err(|error| failure(&error))?;
        serde_json::from_str(&text).map_err(|_| bad("it is not json"))
    }
}

fn bad(reason: &str) -> RemoteError {
    RemoteError::BadAnswer { reason: reason.into() }
}

fn failure(error: &ureq::Error) -> RemoteError {
    match error {
        ureq::Error::Timeout(_) => RemoteError::TimedOut { limit_ms: 120_000 },
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => bad("it is not http"),
        ureq::Error::BodyExceedsLimit(_) => bad("it is too long"),
        error => RemoteError::Unreachable { reason: error.to_string() },
    }
}

fn hit(value: &Value) -> Option<RemoteHit> {
    let number = |name: &str| u32::try_from(value[name].as_u64()?).ok();
    Some(RemoteHit {
        repository: value["repository"].as_str()?.into(),
        path: value["path"].as_str()?.into(),
        lines: LineRange { start: number("start")?, end: number("end")? },
        text: value["text"].as_str()?.into(),
        score: value["score"].as_f64()?,
    })
}

impl RemoteIndex for TestRemote {
    fn name(&self) -> &str {
        "test"
    }

    fn status(
        &self,
        _cancel: &CancelToken,
        repository: &Repository,
    ) -> Result<RemoteStatus, RemoteError> {
        let route = format!("status/{}/{}", repository.owner, repository.name);
        let status = match self.ask(&route, None) {
            Err(RemoteError::Refused { status: 404, .. }) => {
                let reason = "the server does not know it".into();
                return Ok(RemoteStatus::NotIndexable { reason });
            }
            status => status?,
        };
        match status["state"].as_str() {
            Some("ready") => {
                Ok(RemoteStatus::Ready { commit: status["commit"].as_str().map(str::to_owned) })
            }
            Some("building") => Ok(RemoteStatus::Building),
            Some("new") => Ok(RemoteStatus::NotYetIndexed),
            _ => Err(bad("it has no state")),
        }
    }

    fn trigger(&self, _cancel: &CancelToken, repository: &Repository) -> Result<(), RemoteError> {
        let route = format!("trigger/{}/{}", repository.owner, repository.name);
        self.ask(&route, Some(&json!({}))).map(drop)
    }

    fn search(
        &self,
        _cancel: &CancelToken,
        repository: &Repository,
        query: &RemoteQuery,
    ) -> Result<RemoteAnswer, RemoteError> {
        let route = format!("search/{}/{}", repository.owner, repository.name);
        let body = json!({ "query": query.text(), "limit": query.limit() });
        let answer = self.ask(&route, Some(&body))?;
        let results = answer["results"].as_array().ok_or_else(|| bad("it has no results"))?;
        let hits: Option<Vec<RemoteHit>> = results.iter().map(hit).collect();
        Ok(RemoteAnswer {
            commit: answer["commit"].as_str().map(str::to_owned),
            hits: hits.ok_or_else(|| bad("a result lacks something"))?,
        })
    }
}

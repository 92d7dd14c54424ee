//! The server as all runs see it: how to ask it once, what was learned of it, and what to call its failures.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;

use crate::http::{
    Address, Client, Connections, Environment, Failure, Limiter, Note, Request, Response, Secret,
    retry,
};

use super::settings::{HttpProvider, ProviderKind};
use super::wire::{self, Vectors};
use super::{ProviderError, refusal};

/// Longest answer: some overhead, and so much for each text, which is a vector of 16,000 numbers as text.
const ANSWER_BYTES: u64 = 1 << 20;
const ANSWER_BYTES_PER_TEXT: u64 = 1 << 19;

/// What became of one request.
pub(super) enum Answer {
    /// A vector for each text, or what is wrong with it.
    Vectors(Vectors, Note),
    /// An answer that cannot be trusted.
    Bad(String),
    /// Another status.
    Status(Response),
    /// No answer.
    Failed(Failure),
}

/// A server, shared by all runs.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) settings: HttpProvider,
    pub(super) client: Client,
    address: Address,
    secret_headers: Vec<(&'static str, Secret)>,
    /// What is never repeated.
    secrets: Vec<Secret>,
    limiter: Mutex<Limiter>,
    /// Learned; 0: not yet.
    dimensions: AtomicUsize,
    has_answered: AtomicBool,
}

impl Server {
    pub(super) fn new(
        settings: HttpProvider,
        address: Address,
        environment: &Environment<'_>,
    ) -> Result<Self, ProviderError> {
        let client = Client::new(&settings.network(), environment).map_err(|error| {
            ProviderError::Setting {
                setting: error.setting,
                value: error.value,
                expected: error.expected,
            }
        })?;
        let secret_headers = secret_headers(&settings, &address);
        Ok(Self {
            secrets: secrets(&settings, &address, &secret_headers),
            secret_headers,
            client,
            limiter: Mutex::new(Limiter::new(settings.limits())),
            dimensions: AtomicUsize::new(settings.dimensions.unwrap_or(0)),
            has_answered: AtomicBool::new(false),
            settings,
            address,
        })
    }

    /// Sends one request about `n_texts` texts and waits for its answer.
    pub(super) fn ask(
        &self,
        connections: &Connections,
        body: &[u8],
        n_texts: usize,
        timeout: Duration,
    ) -> Answer {
        let request = Request {
            address: &self.address,
            headers: &[],
            secret_headers: &self.secret_headers,
            body,
            timeout,
            max_answer_bytes: ANSWER_BYTES + ANSWER_BYTES_PER_TEXT * n_texts as u64,
        };
        match self.client.send(connections, &request) {
            Err(failure) => Answer::Failed(failure),
            Ok(response) if (200..300).contains(&response.status) => {
                match wire::vectors(self.settings.kind, n_texts, &response.body) {
                    Ok(vectors) => {
                        Answer::Vectors(vectors, retry::note(&response, SystemTime::now()))
                    }
                    Err(reason) => Answer::Bad(reason),
                }
            }
            Ok(response) => Answer::Status(response),
        }
    }

    pub(super) fn limiter(&self) -> MutexGuard<'_, Limiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As set or learned.
    pub(super) fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions.load(Ordering::Relaxed)).filter(|n| *n > 0)
    }

    /// Holds the first number of dimensions, if none is set, and compares the others with it.
    pub(super) fn check_dimensions(&self, found: usize) -> Result<(), ProviderError> {
        let relaxed = Ordering::Relaxed;
        match self.dimensions.compare_exchange(0, found, relaxed, relaxed) {
            Err(expected) if expected != found => {
                Err(ProviderError::Dimensions { model: self.model(), expected, found })
            }
            _ => Ok(()),
        }
    }

    /// Whether it ever gave vectors. Until then it is asked for one thing at a time: it may not exist.
    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    pub(super) fn set_answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    pub(super) fn model(&self) -> String {
        self.settings.model.trim().to_owned()
    }

    pub(super) fn unreachable(&self, reason: &str) -> ProviderError {
        let reason = format!("{} (model {})", self.scrub(reason), self.model());
        ProviderError::Unreachable { address: self.address.to_string(), reason }
    }

    pub(super) fn bad_answer(&self, reason: &str) -> ProviderError {
        ProviderError::BadAnswer {
            address: self.address.to_string(),
            model: self.model(),
            reason: self.scrub(reason),
        }
    }

    pub(super) fn refused(&self, response: &Response) -> ProviderError {
        let mut reason = self.said(response);
        match response.status {
            301..=303 => {
                let to =
                    response.header("location").and_then(|to| self.address.redirected(to).ok());
                if let Some(to) = to {
                    reason.push_str(&format!("; it moved to {to}: set that as embedding.baseUrl"));
                }
            }
            401 | 403 if self.secret_headers.is_empty() => {
                reason.push_str("; no key is set");
            }
            404 | 405 => reason.push_str("; check embedding.baseUrl and embedding.model"),
            _ => {}
        }
        ProviderError::Refused {
            address: self.address.to_string(),
            model: self.model(),
            status: response.status,
            reason: self.scrub(&reason),
        }
    }

    /// What an answer says, short and without our keys.
    pub(super) fn said(&self, response: &Response) -> String {
        refusal::said(response, |text| self.scrub(text))
    }

    /// What a server says, without our keys.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, key| key.scrub(&text))
    }
}

/// All that a server could repeat of what it was told in confidence, in each form in which it was told.
fn secrets(
    settings: &HttpProvider,
    address: &Address,
    headers: &[(&'static str, Secret)],
) -> Vec<Secret> {
    let whole = settings.api_key.iter().chain(address.user()).cloned();
    let mut secrets: Vec<Secret> = whole.chain(address.hidden_values()).collect();
    let password = address.user().and_then(|user| user.expose().split_once(':'));
    secrets.extend(password.map(|(_, password)| Secret::new(password)));
    for (_, value) in headers {
        secrets.push(value.clone());
        secrets.extend(value.expose().split_once(' ').map(|(_, bare)| Secret::new(bare)));
    }
    // A longer one may hold a shorter one.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    secrets
}

/// The headers by which a server knows us: the key in the way of its protocol, else the user of its address.
fn secret_headers(settings: &HttpProvider, address: &Address) -> Vec<(&'static str, Secret)> {
    let Some(key) = settings.api_key.as_ref().filter(|key| !key.is_empty()) else {
        let user = address.user().map(|user| {
            let user = base64::engine::general_purpose::STANDARD.encode(user.expose());
            ("authorization", Secret::new(format!("Basic {user}")))
        });
        return user.into_iter().collect();
    };
    match settings.kind {
        ProviderKind::Gemini => vec![("x-goog-api-key", key.clone())],
        ProviderKind::OpenAi => {
            let bearer = ("authorization", Secret::new(format!("Bearer {}", key.expose())));
            // Azure wants the bare key in a header of its own.
            if address.host().ends_with(".azure.com") {
                vec![("api-key", key.clone())]
            } else {
                vec![bearer]
            }
        }
    }
}

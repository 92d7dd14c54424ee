//! What a workspace tells its host's log.
//!
//! In: sentences with a level. Out: those at or above the level that is set, to the sink that the host gave, if any. No
//! text of a file, no key and no query goes here at any level but `debug`, which has queries.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::config::settings::LogLevel;

/// Receives what is logged, from any thread. Must return quickly.
pub trait LogSink: Send + Sync {
    /// Takes one sentence.
    fn log(&self, level: LogLevel, message: &str);
}

impl<F: Fn(LogLevel, &str) + Send + Sync> LogSink for F {
    fn log(&self, level: LogLevel, message: &str) {
        self(level, message);
    }
}

/// The way to the host's log.
#[derive(Clone, Default)]
pub struct Log {
    sink: Option<Arc<dyn LogSink>>,
    least: Arc<AtomicU8>,
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Log").field("has_sink", &self.sink.is_some()).finish()
    }
}

impl Log {
    /// A log that passes what is at least `least` on to `sink`.
    #[must_use]
    pub fn new(sink: Option<Arc<dyn LogSink>>, least: LogLevel) -> Self {
        Self { sink, least: Arc::new(AtomicU8::new(least as u8)) }
    }

    /// From now on, passes on what is at least `least`.
    pub fn set_level(&self, least: LogLevel) {
        self.least.store(least as u8, Ordering::Relaxed);
    }

    /// Logs what `message` says, if anybody wants it.
    pub fn say(&self, level: LogLevel, message: impl FnOnce() -> String) {
        if let Some(sink) = &self.sink
            && level as u8 >= self.least.load(Ordering::Relaxed)
        {
            sink.log(level, &message());
        }
    }
}

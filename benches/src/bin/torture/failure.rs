//! Why the program ends before its time.

use std::fmt;

/// What went wrong, and whose fault it is.
#[derive(Debug)]
pub enum Failure {
    /// Sextant lost or mixed up something: what this program looks for.
    Finding(String),
    /// The machine did not do what was asked of it: disk, processes, git.
    Machine(String),
    /// The command line is wrong.
    Usage(String),
}

/// Result of anything that can fail.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Exit status of the program.
    pub fn status(&self) -> u8 {
        match self {
            Self::Finding(_) => 1,
            Self::Machine(_) => 3,
            Self::Usage(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding(what) => write!(formatter, "FINDING: {what}"),
            Self::Machine(what) => write!(formatter, "the machine failed: {what}"),
            Self::Usage(what) => write!(formatter, "wrong usage: {what}"),
        }
    }
}

/// Says of an error what was being done.
pub trait Context<T> {
    /// For what the machine has to do.
    fn machine(self, doing: impl fmt::Display) -> Result<T>;
    /// For what Sextant has to do.
    fn finding(self, doing: impl fmt::Display) -> Result<T>;
}

impl<T, E: std::error::Error> Context<T> for std::result::Result<T, E> {
    fn machine(self, doing: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::Machine(format!("{doing}: {}", chain(&error))))
    }

    fn finding(self, doing: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::Finding(format!("{doing}: {}", chain(&error))))
    }
}

/// An error's message with those of its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}

//! Runs git, so that a repository cannot make it run anything else.
//!
//! In: a folder and arguments. Out: the NUL-separated records of what git prints. Bounded by time, by the number of
//! records and by bytes; a run that is over its bounds or cancelled is killed. The settings of a repository may name
//! programs (hooks, monitors, external diffs, pagers, filters), and a repository may come from an archive: none of them is
//! run. Nothing is fetched, nothing is locked, nobody is asked for a password.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::call::TICK;
use crate::task::CancelToken;

/// Most bytes of output that are taken.
const MAX_OUTPUT_BYTES: usize = 32 << 20;
/// Most bytes of what git says of a failure.
const MAX_COMPLAINT_BYTES: usize = 2_000;

/// Settings that would run a program, or make another repository of it.
const SAFE_SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.external=",
    "protocol.allow=never",
];

/// What the environment may hold that leads git to another place, such as below a hook of git.
const MISLEADING: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// git gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GitError {
    #[error("cancelled")]
    Cancelled,
    #[error("git took longer than {limit_ms} ms")]
    TimedOut { limit_ms: u64 },
    #[error("git cannot be run: {reason}; install git, or put it on the path")]
    Missing { reason: String },
    #[error("git failed: {complaint}")]
    Failed { status: Option<i32>, complaint: String },
    #[error("git lists more than {limit} paths")]
    TooLong { limit: usize },
    #[error("a filter of the settings of git has a name that cannot be switched off")]
    FilterName,
}

/// A way to run git in one folder.
pub(super) struct Git<'a> {
    cancel: &'a CancelToken,
    folder: &'a Path,
    /// Name of the program.
    program: &'a str,
    begun: Instant,
    limit_ms: u64,
    /// Settings for every run, beside [`SAFE_SETTINGS`].
    settings: Vec<String>,
}

impl<'a> Git<'a> {
    /// All runs together may take `limit_ms`.
    pub(super) fn new(cancel: &'a CancelToken, folder: &'a Path, limit_ms: u64) -> Self {
        let begun = Instant::now();
        Self { cancel, folder, program: "git", begun, limit_ms, settings: Vec::new() }
    }

    #[cfg(test)]
    pub(super) fn with_program(mut self, program: &'a str) -> Self {
        self.program = program;
        self
    }

    /// Switches off the filters that the settings name, for commands that read the content of files. Without filters, a
    /// file may count as changed that is not; never the other way round.
    pub(super) fn without_filters(mut self) -> Result<Self, GitError> {
        const PATTERN: &str = r"^filter\..*\.(clean|smudge|process)$";
        let names = match self.run(&["config", "-z", "--name-only", "--get-regexp", PATTERN], 1_000)
        {
            Ok(names) => names,
            // There are none.
            Err(GitError::Failed { status: Some(1), .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut sections: Vec<String> = Vec::new();
        for name in names {
            let name = String::from_utf8(name).map_err(|_| GitError::FilterName)?;
            let (section, _) = name.rsplit_once('.').ok_or(GitError::FilterName)?;
            if section.contains(['=', '\n']) {
                return Err(GitError::FilterName);
            }
            sections.push(section.to_owned());
        }
        sections.sort();
        sections.dedup();
        for section in sections {
            for off in ["clean=", "smudge=", "process=", "required=false"] {
                self.settings.push(format!("{section}.{off}"));
            }
        }
        Ok(self)
    }

    /// Runs git and gives the records of its output, which are `max_records` at most.
    pub(super) fn run(&self, args: &[&str], max_records: usize) -> Result<Vec<Vec<u8>>, GitError> {
        self.cancel.check().map_err(|_| GitError::Cancelled)?;
        let missing = |error: std::io::Error| GitError::Missing { reason: error.to_string() };
        let mut child = Running(Some(self.command(args).spawn().map_err(missing)?));
        let process = child.process();
        let (output, complaint) = (process.stdout.take(), process.stderr.take());
        let (sender, receiver) = mpsc::channel();
        let of_output = sender.clone();
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn(run).map(drop).map_err(missing)
        };
        // The receiver is gone once nobody waits any more.
        spawn(
            "sextant-git-output",
            Box::new(move || {
                let read = read_up_to(output, MAX_OUTPUT_BYTES, max_records);
                drop(of_output.send(Part::Output(read)));
            }),
        )?;
        spawn(
            "sextant-git-errors",
            Box::new(move || {
                let (bytes, _) = read_up_to(complaint, MAX_COMPLAINT_BYTES, usize::MAX);
                drop(sender.send(Part::Complaint(bytes)));
            }),
        )?;
        let (mut output, mut complaint) = (None, None);
        while output.is_none() || complaint.is_none() {
            match receiver.recv_timeout(self.left()?.min(TICK)) {
                // git would go on writing what nobody reads.
                Ok(Part::Output((_, true))) => {
                    return Err(GitError::TooLong { limit: max_records });
                }
                Ok(Part::Output((bytes, false))) => output = Some(bytes),
                Ok(Part::Complaint(bytes)) => complaint = Some(bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = loop {
            match child.process().try_wait().map_err(missing)? {
                Some(status) => break status,
                None => thread::sleep(self.left()?.min(Duration::from_millis(1))),
            }
        };
        if !status.success() {
            let complaint = String::from_utf8_lossy(&complaint.unwrap_or_default())
                .trim()
                .lines()
                .next()
                .unwrap_or("no reason given")
                .trim_start_matches("fatal: ")
                .to_owned();
            return Err(GitError::Failed { status: status.code(), complaint });
        }
        Ok(records(&output.unwrap_or_default()))
    }

    /// As [`Git::run`], for a command that prints one line or one record.
    pub(super) fn line(&self, args: &[&str]) -> Result<String, GitError> {
        let mut records = self.run(args, 1)?;
        let line = records.pop().unwrap_or_default();
        Ok(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The time that is left, or why there is none.
    fn left(&self) -> Result<Duration, GitError> {
        self.cancel.check().map_err(|_| GitError::Cancelled)?;
        let left = Duration::from_millis(self.limit_ms).saturating_sub(self.begun.elapsed());
        if left.is_zero() {
            return Err(GitError::TimedOut { limit_ms: self.limit_ms });
        }
        Ok(left)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.arg("-C").arg(self.folder).arg("--no-pager");
        for setting in SAFE_SETTINGS.iter().copied().chain(self.settings.iter().map(String::as_str))
        {
            command.args(["-c", setting]);
        }
        command.args(args);
        for name in MISLEADING {
            command.env_remove(name);
        }
        command
            .envs([
                ("GIT_OPTIONAL_LOCKS", "0"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_PAGER", "cat"),
                ("GIT_ASKPASS", ""),
                ("SSH_ASKPASS", ""),
                // A partial clone would fetch what it lacks; newer gits know the first, all know the second.
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_ALLOW_PROTOCOL", "none"),
                ("LC_ALL", "C"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(windows)]
        {
            use std::os::windows::process::CommandExt;
            const CREATE_NO_WINDOW: u32 = 0x0800_0000;
            command.creation_flags(CREATE_NO_WINDOW);
        }
        command
    }
}

enum Part {
    /// The bytes, and whether there are more.
    Output((Vec<u8>, bool)),
    Complaint(Vec<u8>),
}

/// A process that does not outlive its use.
struct Running(Option<Child>);

impl Running {
    fn process(&mut self) -> &mut Child {
        self.0.as_mut().expect("the process is taken only by drop")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        if let Ok(None) = child.try_wait() {
            // It may have ended by itself in this moment.
            drop(child.kill());
            // A process that the system holds (a disk that hangs) must not hold us.
            let wait = move || drop(child.wait());
            drop(thread::Builder::new().name("sextant-git-end".into()).spawn(wait));
        }
    }
}

/// Reads until the end, or until there are more bytes or records than that; then the second is true.
fn read_up_to(from: Option<impl Read>, max_bytes: usize, max_records: usize) -> (Vec<u8>, bool) {
    let Some(mut from) = from else { return (Vec::new(), false) };
    let (mut bytes, mut n_records) = (Vec::new(), 0usize);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return (bytes, false),
            Ok(n) => {
                n_records += memchr::memchr_iter(0, &buffer[..n]).count();
                bytes.extend_from_slice(&buffer[..n]);
                if bytes.len() > max_bytes || n_records > max_records {
                    return (bytes, true);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What was not read may be a changed file: as if there were more.
            Err(_) => return (bytes, true),
        }
    }
}

fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()
}

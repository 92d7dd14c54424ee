//! What a child process used.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// CPU, memory, and what the child printed of itself.
pub struct Usage {
    /// User and system time.
    pub cpu_s: f64,
    /// From start to end.
    pub wall_s: f64,
    /// Largest resident set.
    pub peak_mb: f64,
    values: Vec<(String, f64)>,
}

impl Usage {
    /// A value that the child printed.
    pub fn find(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// A value that the child must have printed.
    pub fn value(&self, name: &str) -> f64 {
        self.find(name).unwrap_or_else(|| panic!("the child printed no {name}"))
    }
}

/// Runs `step` on `root` in a process of its own.
pub fn run(step: &str, root: &Path, storage: &Path) -> Usage {
    let program = std::env::current_exe().expect("the program knows its path");
    let started = Instant::now();
    #[expect(
        clippy::zombie_processes,
        reason = "wait4 below waits for it, and gives its usage too"
    )]
    let child = Command::new(program)
        .args(["--child", step])
        .args([root, storage])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts again");
    let pid = libc::pid_t::try_from(child.id()).expect("a process id");
    let mut output = String::new();
    std::io::Read::read_to_string(&mut child.stdout.expect("piped"), &mut output)
        .expect("the child prints text");
    let mut status = 0;
    // SAFETY: a zeroed rusage is valid; wait4 fills it for our own child, which nobody else waits for.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid, "the child is ours");
        usage
    };
    assert_eq!(status, 0, "{step} failed");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Usage {
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_s: started.elapsed().as_secs_f64(),
        peak_mb: usage.ru_maxrss as f64 / 1024.0,
        values: output
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.parse().expect("a number")))
            .collect(),
    }
}

/// CPU time of this process so far, in milliseconds.
pub fn cpu_ms() -> f64 {
    // SAFETY: a zeroed timespec is valid and the clock exists on every Unix.
    unsafe {
        let mut time = std::mem::zeroed::<libc::timespec>();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    }
}

//! How does indexing stay out of the way of what a person does meanwhile?
//!
//! In: the calling thread. Out: that thread at a lower priority for processor and disk, for the rest of its life, since a
//! process without privileges cannot raise a priority again: only threads that were made for indexing may call this.
//! Never fails: where the system refuses, the thread works on as it was, which costs politeness and no result.

/// Name of the threads that index, as the system shows it; Linux keeps 15 bytes of a name.
pub const NAME: &str = "sextant-index";

/// Added to the nice value of a thread: a thread of nice 10 gets about a tenth of a core that one of nice 0 wants too
/// (each step is a factor of 1.25, Linux `kernel/sched/core.c`), and all of a core that nobody wants. Unmeasured.
#[cfg(target_os = "linux")]
const NICE: libc::c_int = 10;

/// Lowers the priority of the calling thread.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    lower_on_linux();
    #[cfg(target_os = "macos")]
    // SAFETY: the call changes the calling thread alone and takes no pointers.
    unsafe {
        // Utility: work that a person waits for without watching it; the system then prefers efficient cores.
        libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0);
    }
    #[cfg(windows)]
    // SAFETY: the pseudo handle of the calling thread is always valid and needs no closing.
    unsafe {
        use windows_sys::Win32::System::Threading as threading;
        threading::SetThreadPriority(
            threading::GetCurrentThread(),
            threading::THREAD_MODE_BACKGROUND_BEGIN,
        );
    }
}

#[cfg(target_os = "linux")]
fn lower_on_linux() {
    /// One thread, from `linux/ioprio.h`.
    const IOPRIO_WHO_PROCESS: libc::c_int = 1;
    /// Class 2 (best effort) at its lowest level, 7, from `linux/ioprio.h`. The idle class would come to a stand beside
    /// any busy program.
    const LOWEST_BEST_EFFORT: libc::c_int = 2 << 13 | 7;
    // SAFETY: the calls take no pointers; 0 stands for the calling thread, which Linux schedules by itself.
    unsafe {
        let nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, (nice + NICE).min(19));
        libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, LOWEST_BEST_EFFORT);
    }
}

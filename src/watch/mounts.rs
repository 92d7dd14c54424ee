//! File systems on which changes that others make cause no events.
//!
//! The system tells of what is done through its own mount. What another machine, a host outside the virtual machine or
//! a process behind a user-space file system does, it does not know of. Where that cannot be told apart from a local
//! disk (FUSE serves both), events are not trusted.

use std::path::Path;

/// Answers what the file system of a folder is called, if events on it cannot be relied on.
pub(super) type Probe = fn(&Path) -> Option<&'static str>;

/// `f_type` of statfs(2), lower 32 bits, and a name for a person. Source: linux/magic.h and the drivers' own sources.
#[cfg(any(target_os = "linux", test))]
const WITHOUT_EVENTS: &[(u32, &str)] = &[
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x786f_4256, "VirtualBox shared folders"),
    (0xbacb_acbc, "VMware shared folders"),
    (0x7c7c_6673, "Parallels shared folders"),
    (0x5346_4846, "a Windows drive in WSL"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x1983_0326, "BeeGFS"),
    (0x2003_0528, "OrangeFS"),
    (0x7375_7245, "Coda"),
    (0x0000_564c, "NCP"),
];

/// What a file system without reliable events is called.
#[cfg(any(target_os = "linux", test))]
fn without_events(f_type: u32) -> Option<&'static str> {
    WITHOUT_EVENTS.iter().find(|(magic, _)| *magic == f_type).map(|&(_, name)| name)
}

/// Asks the system about a folder. One that cannot be asked about is taken for local: watching it will fail by itself.
#[cfg(target_os = "linux")]
pub(super) fn file_system_without_events(folder: &Path) -> Option<&'static str> {
    use std::os::unix::ffi::OsStrExt;

    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut stats = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: `path` ends with NUL and `stats` has room for what statfs writes.
    if unsafe { libc::statfs(path.as_ptr(), stats.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: statfs returned 0, so it has filled the struct.
    let stats = unsafe { stats.assume_init() };
    // The type has another width and sign on some platforms; every magic number fits in 32 bits.
    without_events(stats.f_type as u32)
}

/// Other systems have no such question that is worth its cost: callers look at all stats before each search there.
#[cfg(not(target_os = "linux"))]
pub(super) fn file_system_without_events(_folder: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_and_user_space_file_systems_have_no_events() {
        let cases = [
            (0x6969, Some("NFS")),
            (0xff53_4d42, Some("CIFS")),
            (0xfe53_4d42, Some("SMB2")),
            (0x0102_1997, Some("9p")),
            (0x6573_5546, Some("FUSE")),
            (0x786f_4256, Some("VirtualBox shared folders")),
            (0x00c3_6400, Some("Ceph")),
            // ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs
            (0xef53, None),
            (0x5846_5342, None),
            (0x9123_683e, None),
            (0x0102_1994, None),
            (0x794c_7630, None),
            (0xf2f5_2010, None),
            (0x2fc1_2fc1, None),
        ];
        for (f_type, name) in cases {
            assert_eq!(without_events(f_type), name, "{f_type:#x}");
        }
    }

    #[test]
    fn no_magic_number_stands_twice() {
        let mut magics: Vec<u32> = WITHOUT_EVENTS.iter().map(|&(magic, _)| magic).collect();
        magics.sort_unstable();
        magics.dedup();
        assert_eq!(magics.len(), WITHOUT_EVENTS.len());
    }

    #[test]
    fn a_missing_folder_is_no_shared_one() {
        assert_eq!(file_system_without_events(Path::new("/no/such/folder")), None);
    }
}

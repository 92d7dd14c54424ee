//! Where is the database?

use std::env;
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::config::WalkConfig;
use crate::error::Error;
use crate::store::StoreError;

/// The storage folder for `roots`: `explicit`, or one in the platform's cache folder, named after the roots. An
/// explicit one must lie outside the roots. The cache folder may lie inside (the home folder as a root); it is then
/// excluded from the walk.
pub fn folder(
    roots: &[PathBuf],
    explicit: Option<&Path>,
    walk: &mut WalkConfig,
) -> Result<PathBuf, Error> {
    if let Some(folder) = explicit {
        let real = real_path(folder);
        if let Some(root) = roots.iter().find(|root| real.starts_with(root)) {
            return Err(StoreError::InsideRoot { storage: real, root: root.clone() }.into());
        }
        return Ok(real);
    }
    let cache = real_path(&cache_folder()?);
    leave_out(&cache, roots, walk);
    let mut names: Vec<String> =
        roots.iter().map(|root| root.to_string_lossy().into_owned()).collect();
    names.sort();
    let key = xxh3_128(names.join("\0").as_bytes());
    let label: String = roots[0]
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .take(40)
        .collect();
    Ok(cache.join(format!("{label}-{key:032x}")))
}

/// Whether a walk of `root` does not enter `storage`, which lies below it.
pub fn is_left_out(storage: &Path, root: &Path, walk: &WalkConfig) -> bool {
    let relative = storage.strip_prefix(root).map(|path| path.to_string_lossy().replace('\\', "/"));
    relative.is_ok_and(|path| {
        walk.never_enter.iter().any(|folder| Path::new(&path).starts_with(folder))
    })
}

/// The cache of embeddings: in `explicit`, or in the platform's cache folder. None if there is no such folder.
pub fn embeddings(
    roots: &[PathBuf],
    explicit: Option<&Path>,
    walk: &mut WalkConfig,
) -> Option<PathBuf> {
    let folder =
        real_path(&explicit.map_or_else(cache_folder, |path| Ok(path.to_path_buf())).ok()?);
    leave_out(&folder, roots, walk);
    Some(folder.join("embeddings.db"))
}

/// Keeps the walk out of `folder`, where it lies inside a root.
fn leave_out(folder: &Path, roots: &[PathBuf], walk: &mut WalkConfig) {
    for root in roots {
        if let Ok(relative) = folder.strip_prefix(root) {
            let path = relative.to_string_lossy().replace('\\', "/");
            if !walk.never_enter.contains(&path) {
                walk.never_enter.push(path);
            }
        }
    }
}

/// The real path of something that may not exist yet: links are followed as far as there are any.
pub fn real_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut real = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            part => real.push(part),
        }
        if let Ok(followed) = real.canonicalize() {
            real = followed;
        }
    }
    real
}

/// The platform's folder for data that can be made again.
fn cache_folder() -> Result<PathBuf, Error> {
    let from = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = if cfg!(target_os = "windows") {
        from("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        from("HOME").map(|home| home.join("Library/Caches"))
    } else {
        from("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| from("HOME").map(|home| home.join(".cache")))
    };
    folder.map(|folder| folder.join("sextant")).ok_or_else(|| Error::InvalidArgument {
        name: "storage".into(),
        value: "not given".into(),
        expected: "a folder, because the environment names no home folder".into(),
    })
}

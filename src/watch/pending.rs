//! The changes of one root that nobody has taken yet.

use std::collections::BTreeSet;

/// More paths than this are as good as "everything": a sweep asks for each file's stat anyway, and memory stays bounded
/// when a branch switch touches ten thousand files. Unmeasured.
pub(super) const MAX_PENDING: usize = 4096;

/// What may have changed below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Paths relative to the root, with `/` between the parts; sorted by bytes, no two equal, none below another. Each
    /// stands for itself and all below. There may be nothing at a path any more.
    Paths(Vec<String>),
    /// It is not known what has not changed: the whole root has to be looked at.
    Everything,
}

/// Collects changes within bounded memory.
#[derive(Debug, Default)]
pub(super) struct Pending {
    paths: BTreeSet<String>,
    is_everything: bool,
}

impl Pending {
    /// Adds a path; the empty path is the root itself, so everything.
    pub(super) fn insert(&mut self, path: &str) {
        if self.is_everything || self.paths.contains(path) {
            return;
        }
        if path.is_empty() || self.paths.len() >= MAX_PENDING {
            self.insert_everything();
        } else {
            self.paths.insert(path.to_owned());
        }
    }

    /// From now on, everything may have changed.
    pub(super) fn insert_everything(&mut self) {
        self.is_everything = true;
        self.paths = BTreeSet::new();
    }

    /// Adds what was taken before.
    pub(super) fn insert_all(&mut self, changes: Changes) {
        match changes {
            Changes::Everything => self.insert_everything(),
            Changes::Paths(paths) => paths.iter().for_each(|path| self.insert(path)),
        }
    }

    /// Takes all there is; nothing is left.
    pub(super) fn take(&mut self) -> Option<Changes> {
        let Self { paths, is_everything } = std::mem::take(self);
        if is_everything {
            return Some(Changes::Everything);
        }
        let tops = paths.iter().filter(|path| !is_below_one_of(path, &paths)).cloned();
        let tops: Vec<String> = tops.collect();
        (!tops.is_empty()).then_some(Changes::Paths(tops))
    }

    /// Number of paths; everything counts as one.
    pub(super) fn len(&self) -> usize {
        self.paths.len() + usize::from(self.is_everything)
    }
}

/// Whether a folder above `path` is in `paths`.
fn is_below_one_of(path: &str, paths: &BTreeSet<String>) -> bool {
    path.match_indices('/').any(|(end, _)| paths.contains(&path[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(inserted: &[&str], taken: Option<&[&str]>) {
        let mut pending = Pending::default();
        inserted.iter().for_each(|path| pending.insert(path));
        let expected = taken.map(|paths| Changes::Paths(paths.iter().map(|&p| p.into()).collect()));
        assert_eq!(pending.take(), expected);
        assert_eq!((pending.take(), pending.len()), (None, 0));
    }

    #[test]
    fn paths_are_sorted_and_stand_for_all_below() {
        check(&[], None);
        check(&["b", "a", "b"], Some(&["a", "b"]));
        check(&["a/b/c", "a-b", "a", "a/b", "ab"], Some(&["a", "a-b", "ab"]));
        check(&["a/b/c", "a/c"], Some(&["a/b/c", "a/c"]));
    }

    #[test]
    fn too_many_paths_are_everything() {
        let mut pending = Pending::default();
        (0..MAX_PENDING).for_each(|i| pending.insert(&i.to_string()));
        pending.insert("0");
        assert_eq!(pending.len(), MAX_PENDING);
        pending.insert("more");
        pending.insert("yet more");
        assert_eq!(pending.len(), 1);
        assert_eq!(pending.take(), Some(Changes::Everything));
        assert_eq!(pending.take(), None);
    }

    #[test]
    fn the_root_itself_is_everything() {
        let mut pending = Pending::default();
        pending.insert("");
        assert_eq!(pending.take(), Some(Changes::Everything));
    }

    #[test]
    fn what_is_put_back_joins_what_came_since() {
        let mut pending = Pending::default();
        pending.insert("b");
        pending.insert_all(Changes::Paths(vec!["a".into(), "b/c".into()]));
        assert_eq!(pending.take(), Some(Changes::Paths(vec!["a".into(), "b".into()])));
        pending.insert("b");
        pending.insert_all(Changes::Everything);
        assert_eq!(pending.take(), Some(Changes::Everything));
    }
}

//! Which part of a root is asked for?
//!
//! In: relative paths. Out: for any path, whether it is one of them or lies below one. Kept as a tree of names, so
//! that a walk asks once an entry. Never fails.

use std::collections::BTreeMap;

/// No path that a system opens has more parts; what is deeper stands for its ancestor at this depth.
const MAX_PARTS: usize = 2048;

/// A set of paths relative to a root, each with everything below it. Whoever adds paths bounds their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    top: Node,
    n_paths: usize,
}

/// A path that was added (it then has no children), or one above such a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    is_added: bool,
    children: BTreeMap<Box<str>, Node>,
}

/// How much of a folder a scope asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach<'a> {
    /// All of it.
    All,
    /// Nothing but what the children of the node ask for.
    Way(&'a Node),
}

impl Scope {
    /// The root and everything below it.
    #[must_use]
    pub fn whole() -> Self {
        Self { top: Node { is_added: true, children: BTreeMap::new() }, n_paths: 1 }
    }

    /// Adds a path, written with `/`; the empty one is the root. It takes the place of paths below it.
    pub fn add(&mut self, path: &str) {
        let mut node = &mut self.top;
        for part in parts(path).take(MAX_PARTS) {
            if node.is_added {
                return;
            }
            node = node.children.entry(part.into()).or_default();
        }
        if !node.is_added {
            self.n_paths = self.n_paths + 1 - node.n_added();
            *node = Node { is_added: true, children: BTreeMap::new() };
        }
    }

    /// Adds all paths of another scope.
    pub fn merge(&mut self, other: &Self) {
        for path in other.paths() {
            self.add(&path);
        }
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_paths == 0
    }

    /// Whether it is the whole root.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.top.is_added
    }

    /// How many paths were added, without those that lie below another.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_paths
    }

    /// Whether the path was added or lies below one that was.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let mut node = &self.top;
        let mut parts = parts(path).take(MAX_PARTS);
        while !node.is_added {
            let Some(below) = parts.next().and_then(|part| node.children.get(part)) else {
                return false;
            };
            node = below;
        }
        true
    }

    /// The paths that were added, ordered by their bytes, without those that lie below another.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut found = Vec::with_capacity(self.n_paths);
        let mut pending = vec![(String::new(), &self.top)];
        while let Some((path, node)) = pending.pop() {
            for (name, child) in &node.children {
                let slash = if path.is_empty() { "" } else { "/" };
                pending.push((format!("{path}{slash}{name}"), child));
            }
            if node.is_added {
                found.push(path);
            }
        }
        found.sort_unstable();
        found
    }

    /// How much of the root is asked for.
    pub(super) fn reach(&self) -> Reach<'_> {
        self.top.reach()
    }
}

impl Node {
    fn reach(&self) -> Reach<'_> {
        if self.is_added { Reach::All } else { Reach::Way(self) }
    }

    fn n_added(&self) -> usize {
        usize::from(self.is_added) + self.children.values().map(Self::n_added).sum::<usize>()
    }

    /// Whether the child of this name was added itself.
    pub(super) fn has_added(&self, name: &str) -> bool {
        self.children.get(name).is_some_and(|child| child.is_added)
    }
}

impl<'a> Reach<'a> {
    /// How much of an entry of the folder is asked for, if anything is.
    pub(super) fn below(self, name: &str) -> Option<Self> {
        match self {
            Self::All => Some(Self::All),
            Self::Way(node) => node.children.get(name).map(Node::reach),
        }
    }

    /// Whether the folder itself is asked for.
    pub(super) fn is_all(self) -> bool {
        matches!(self, Self::All)
    }
}

/// The names in a path.
pub(super) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parents_take_the_place_of_what_is_below() {
        let mut scope = Scope::default();
        assert!(scope.is_empty() && !scope.is_whole() && !scope.covers("") && !scope.covers("a"));
        for path in ["a/x", "a/y/z", "a-b", "a/x/deeper", "./b//"] {
            scope.add(path);
        }
        assert_eq!(scope.paths(), ["a-b", "a/x", "a/y/z", "b"]);
        assert!(scope.covers("a/x/q") && !scope.covers("a") && !scope.covers("a/xy"));
        scope.add("a");
        assert_eq!((scope.paths(), scope.len()), (vec!["a".into(), "a-b".into(), "b".into()], 3));
        scope.add("");
        assert_eq!(scope, Scope::whole());
        assert!(scope.is_whole() && scope.covers("") && scope.covers("any/thing"));
        assert_eq!((scope.paths(), scope.len()), (vec![String::new()], 1));
    }

    #[test]
    fn a_path_of_any_depth_is_taken() {
        let mut scope = Scope::default();
        let deep = "a/".repeat(200_000);
        scope.add(&deep);
        assert!(scope.covers(&deep) && !scope.covers("a/a"));
        assert_eq!(scope.clone(), scope);
    }

    fn is_at_or_below(path: &str, added: &str) -> bool {
        path.strip_prefix(added)
            .is_some_and(|rest| added.is_empty() || rest.is_empty() || rest.starts_with('/'))
    }

    proptest! {
        #[test]
        fn it_covers_what_was_added_and_what_is_below(
            added in proptest::collection::vec("([ab]|a-)?(/[ab]){0,3}", 0..6),
            asked in "([ab]|a-)(/[ab]){0,4}",
        ) {
            let added: Vec<&str> = added.iter().map(|path| path.trim_start_matches('/')).collect();
            let mut scope = Scope::default();
            let mut halves = [Scope::default(), Scope::default()];
            for (nth, path) in added.iter().enumerate() {
                scope.add(path);
                halves[nth % 2].add(path);
            }
            let expected = added.iter().any(|path| is_at_or_below(&asked, path));
            prop_assert_eq!(scope.covers(&asked), expected);
            let paths = scope.paths();
            prop_assert_eq!(paths.len(), scope.len());
            prop_assert!(paths.is_sorted());
            for path in &paths {
                prop_assert!(added.contains(&path.as_str()));
                let n_above = paths.iter().filter(|other| is_at_or_below(path, other)).count();
                prop_assert_eq!(n_above, 1);
            }
            let [mut first, second] = halves;
            first.merge(&second);
            prop_assert_eq!(first, scope);
        }
    }
}

//! Seeded edits of the tree, of the kinds that people and their tools make.

mod large;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::code::{EXTENSIONS, source};
use crate::disk;
use crate::failure::Result;
use crate::git;
use crate::marked;
use crate::random::Random;

const FOLDERS: &[&str] = &[
    "",
    "src",
    "src/store",
    "src/store/deep",
    "lib",
    "lib/net",
    "tests",
    "docs",
    "web/app",
    "tools",
];

/// Edits one tree. Which edits come depends on the seed and on the tree alone.
pub struct Editor {
    root: PathBuf,
    random: Random,
    /// What the number of files is kept near to.
    n_wanted: usize,
    /// Counts names, so that a new one is new.
    next_name: u64,
    branch: usize,
    /// Ordinary files, or `None` if they have to be listed again.
    files: Option<Vec<String>>,
    /// Edits made, by kind.
    pub made: BTreeMap<&'static str, u64>,
}

impl Editor {
    /// Fills an empty folder with `n_files` files and makes it a repository.
    pub fn begin(root: &Path, n_files: usize, seed: u64) -> Result<Self> {
        let mut editor = Self {
            root: root.to_path_buf(),
            random: Random::new(seed, 1),
            n_wanted: n_files,
            next_name: 0,
            branch: 0,
            files: Some(Vec::new()),
            made: BTreeMap::new(),
        };
        for _ in 0..n_files {
            editor.create()?;
        }
        disk::write(&root.join(".gitignore"), "*.tmp~\n*.log\n")?;
        git::begin(root)?;
        Ok(editor)
    }

    /// Any one edit.
    pub fn edit(&mut self) -> Result<()> {
        let n_files = self.files()?.len();
        let (more, less) = match () {
            () if n_files < self.n_wanted * 7 / 10 => (20, 0),
            () if n_files > self.n_wanted * 13 / 10 => (0, 20),
            () => (5, 4),
        };
        type Make = fn(&mut Editor) -> Result<()>;
        let kinds: &[(usize, (&'static str, Make))] = &[
            (more, ("create", Self::create)),
            (less, ("delete", Self::delete)),
            (6, ("write", Self::rewrite)),
            (3, ("append", Self::append)),
            (2, ("same size", Self::same_size)),
            (5, ("atomic save", Self::atomic_save)),
            (3, ("rename", Self::rename)),
            (1, ("rename over another", Self::rename_over)),
            (1, ("rename folder", Self::rename_folder)),
            (1, ("new folder", Self::new_folder)),
            (2, ("touch", Self::touch)),
            (1, ("make binary", Self::make_binary)),
            (1, ("make empty", Self::make_empty)),
        ];
        if n_files == 0 {
            return self.create();
        }
        let (kind, make) = self.random.weighted(kinds);
        self.count(kind);
        make(self)
    }

    fn count(&mut self, kind: &'static str) {
        *self.made.entry(kind).or_default() += 1;
    }

    fn files(&mut self) -> Result<&mut Vec<String>> {
        if self.files.is_none() {
            let passes_over = |name: &str| {
                name == ".git"
                    || name.starts_with(marked::FOLDER)
                    || name.starts_with("burst")
                    || name.ends_with("ignore")
            };
            self.files = Some(disk::files_below(&self.root, passes_over)?);
        }
        Ok(self.files.get_or_insert_default())
    }

    fn any_file(&mut self) -> Result<String> {
        let n = self.files()?.len();
        let at = self.random.below(n.max(1));
        Ok(self.files()?.get(at).cloned().unwrap_or_else(|| "README.md".into()))
    }

    fn any_path(&mut self) -> Result<PathBuf> {
        let file = self.any_file()?;
        Ok(self.root.join(file))
    }

    /// A name that no file has yet, with an extension.
    fn new_file(&mut self, extension: &str) -> String {
        self.next_name += 1;
        let folder = *self.random.pick(FOLDERS);
        let ending = if self.random.percent(10) { "_b" } else { "" };
        let name = format!("part_{}{ending}.{extension}", self.next_name);
        if folder.is_empty() { name } else { format!("{folder}/{name}") }
    }

    fn create(&mut self) -> Result<()> {
        let extension = *self.random.pick(EXTENSIONS);
        let file = self.new_file(extension);
        disk::write(&self.root.join(&file), source(extension, self.random.next()))?;
        self.files()?.push(file);
        Ok(())
    }

    fn delete(&mut self) -> Result<()> {
        let n = self.files()?.len();
        let at = self.random.below(n);
        let file = self.files()?.swap_remove(at);
        disk::remove(&self.root.join(file))
    }

    fn rewrite(&mut self) -> Result<()> {
        let path = self.any_path()?;
        disk::write(&path, source(&extension(&path), self.random.next()))
    }

    fn append(&mut self) -> Result<()> {
        let path = self.any_path()?;
        let mut content = disk::read(&path)?;
        content.truncate(20_000);
        content.extend_from_slice(source(&extension(&path), self.random.next()).as_bytes());
        disk::write(&path, content)
    }

    /// As many bytes, other words.
    fn same_size(&mut self) -> Result<()> {
        let path = self.any_path()?;
        let mut content = disk::read(&path)?;
        for byte in &mut content {
            *byte = match *byte {
                b'e' => b'o',
                b'o' => b'e',
                byte => byte,
            };
        }
        disk::write(&path, content)
    }

    fn atomic_save(&mut self) -> Result<()> {
        let path = self.any_path()?;
        disk::write_by_rename(&path, source(&extension(&path), self.random.next()))
    }

    fn rename(&mut self) -> Result<()> {
        let n = self.files()?.len();
        let at = self.random.below(n);
        let from = self.files()?.swap_remove(at);
        let to = self.new_file(&extension(Path::new(&from)));
        disk::rename(&self.root.join(from), &self.root.join(&to))?;
        self.files()?.push(to);
        Ok(())
    }

    fn rename_over(&mut self) -> Result<()> {
        let n = self.files()?.len();
        let at = self.random.below(n);
        let from = self.files()?.swap_remove(at);
        if n == 1 {
            return disk::remove(&self.root.join(from));
        }
        let to = self.any_path()?;
        disk::rename(&self.root.join(from), &to)
    }

    fn rename_folder(&mut self) -> Result<()> {
        let file = self.any_file()?;
        let Some((folder, _)) = file.rsplit_once('/') else { return Ok(()) };
        self.next_name += 1;
        let plain = folder.split_once('~').map_or(folder, |(plain, _)| plain);
        let to = format!("{plain}~{}", self.next_name);
        self.files = None;
        disk::rename(&self.root.join(folder), &self.root.join(to))
    }

    fn new_folder(&mut self) -> Result<()> {
        self.next_name += 1;
        let folder = format!("{}/new_{}", self.random.pick(&FOLDERS[1..]), self.next_name);
        for at in 0..=self.random.below(4) {
            let extension = *self.random.pick(EXTENSIONS);
            let file = format!("{folder}/inner_{at}.{extension}");
            disk::write(&self.root.join(&file), source(extension, self.random.next()))?;
            self.files()?.push(file);
        }
        Ok(())
    }

    /// A new time of change: now, or long ago as after unpacking an archive.
    fn touch(&mut self) -> Result<()> {
        let path = self.any_path()?;
        let time = if self.random.percent(50) {
            SystemTime::now()
        } else {
            let seconds = 1_400_000_000 + self.random.below(100_000_000) as u64;
            SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
        };
        disk::set_modified(&path, time)
    }

    fn make_binary(&mut self) -> Result<()> {
        let path = self.any_path()?;
        disk::write(&path, [0u8, 1, 2, 255].repeat(200))
    }

    fn make_empty(&mut self) -> Result<()> {
        let path = self.any_path()?;
        disk::write(&path, "")
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default()
}

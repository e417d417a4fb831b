//! What goes into an archive, found and checked before the first byte is written.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Error, bail};

use super::args::Create;
use super::out::Out;
use super::terminal::complain;
use crate::name;
use crate::options::EntryOptions;

pub struct Item {
    pub name: String,
    pub source: Source,
}

pub enum Source {
    Folder(EntryOptions),
    /// A file, by way of what was typed: the file itself, or a folder above it.
    File {
        root: Rc<Path>,
        path: PathBuf,
    },
    /// A file or folder that was gone or not to be read.
    Lost(PathBuf, io::Error),
    Stdin,
}

struct Plan<'a> {
    request: &'a Create,
    out: &'a Out,
    items: Vec<Item>,
}

/// Lists the entries that were asked for: folders with all they hold, in the order of their names.
pub fn plan(request: &Create, out: &Out) -> Result<Vec<Item>, Error> {
    let mut plan = Plan { request, out, items: Vec::new() };
    for path in &request.files {
        if path == Path::new("-") {
            let name = request.stdin_name.clone();
            check(&name, "--stdin-name")?;
            plan.items.push(Item { name, source: Source::Stdin });
        } else {
            let name = typed_name(path)?;
            let metadata = fs::symlink_metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            // With a slash at the end the system would follow a link that takes the place of a folder.
            let bare: PathBuf = path.components().collect();
            let is_folder = fs::symlink_metadata(&bare).is_ok_and(|found| found.is_dir());
            let root = if is_folder { bare } else { path.clone() };
            plan.add(&Rc::from(root.as_path()), root, name, &metadata)?;
        }
    }
    let mut names = HashSet::new();
    let packed = || plan.items.iter().filter(|item| !matches!(item.source, Source::Lost(..)));
    if let Some(twice) = packed().find(|item| !names.insert(item.name.trim_end_matches('/'))) {
        bail!("{:?} would be in the archive twice: name each file once", twice.name);
    }
    let is_file = |item: &&Item| !matches!(item.source, Source::Folder(_));
    let files: HashSet<&str> = packed().filter(is_file).map(|item| item.name.as_str()).collect();
    let mut above = packed().flat_map(|item| item.name.match_indices('/').map(|(end, _)| &item.name[..end]));
    if let Some(both) = above.find(|above| files.contains(above)) {
        bail!("{both:?} would be a file and a folder in the archive: choose another name");
    }
    Ok(plan.items)
}

impl Plan<'_> {
    fn add(&mut self, root: &Rc<Path>, path: PathBuf, name: String, metadata: &Metadata) -> Result<(), Error> {
        let shown = path.display();
        if metadata.is_dir() {
            return self.add_folder(root, &path, name, metadata);
        }
        if !metadata.is_file() {
            let kind = if metadata.is_symlink() { "a symbolic link" } else { "neither a file nor a folder" };
            if self.request.skip_special {
                complain(&format!("{shown} is {kind}: left out"));
                return Ok(());
            }
            bail!("{shown} is {kind}: --skip-special leaves it out");
        }
        let is_archive = self.out.writes_to(metadata);
        if is_archive && *path != **root {
            complain(&format!("{shown} is the archive itself: left out"));
            return Ok(());
        }
        if is_archive || self.out.is(&path) {
            bail!("{shown} is the archive itself: write it to another folder, or name the files without it");
        }
        if self.admits(&name, root, &path)? {
            self.items.push(Item { name, source: Source::File { root: root.clone(), path } });
        }
        Ok(())
    }

    /// Whether an entry may have that name. What was typed is refused, what stands in a folder left out: the rest of the folder is wanted all the same.
    fn admits(&mut self, name: &str, root: &Path, path: &Path) -> Result<bool, Error> {
        match check(name, &path.display().to_string()) {
            Err(error) if path != root => {
                self.lose(path.to_owned(), &error);
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }

    fn lose(&mut self, path: PathBuf, error: &Error) {
        self.items
            .push(Item { name: String::new(), source: Source::Lost(path, io::Error::other(format!("{error:#}"))) });
    }

    /// A folder without a name is the current one: only what it holds is added.
    fn add_folder(&mut self, root: &Rc<Path>, path: &Path, name: String, metadata: &Metadata) -> Result<(), Error> {
        let mut children: Vec<_> = match fs::read_dir(path).and_then(Iterator::collect) {
            Ok(children) => children,
            Err(error) => {
                self.items.push(Item { name, source: Source::Lost(path.to_owned(), error) });
                return Ok(());
            }
        };
        let prefix = if name.is_empty() { name } else { name + "/" };
        if !prefix.is_empty() {
            if !self.admits(&prefix, root, path)? {
                return Ok(());
            }
            let options = options(metadata, self.request.keep_times);
            self.items.push(Item { name: prefix.clone(), source: Source::Folder(options) });
        }
        children.sort_unstable_by_key(fs::DirEntry::file_name);
        // A folder that changes while it is read may give a name twice.
        children.dedup_by_key(|child| child.file_name());
        for child in children {
            let path = child.path();
            let name = match utf8(&child.file_name(), &path) {
                Ok(name) => format!("{prefix}{name}"),
                Err(error) => {
                    self.lose(path, &error);
                    continue;
                }
            };
            match child.metadata() {
                Ok(metadata) => self.add(root, path, name, &metadata)?,
                Err(error) => self.items.push(Item { name, source: Source::Lost(path, error) }),
            }
        }
        Ok(())
    }
}

/// What is recorded of a file or folder.
pub fn options(metadata: &Metadata, keep_times: bool) -> EntryOptions {
    let (options, mode) = (EntryOptions::new(), metadata.mode());
    if !keep_times {
        return options.unix_mode(if metadata.is_dir() || mode & 0o111 != 0 { 0o755 } else { 0o644 });
    }
    let options = options.unix_mode(mode);
    // A file system that keeps no times leaves the default.
    match metadata.modified() {
        Ok(time) => options.modified(time),
        Err(_) => options,
    }
}

/// The name in the archive of what was typed: relative, with slashes, without `.`.
fn typed_name(path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(utf8(part, path)?),
            Component::ParentDir => {
                bail!("{shown} leaves the current folder, and entries must not: run from the folder that holds it")
            }
            Component::RootDir | Component::Prefix(_) => {
                bail!("{shown} is absolute, and entries must not be: run from the folder that holds it")
            }
        }
    }
    Ok(parts.join("/"))
}

fn utf8(part: &OsStr, path: &Path) -> Result<String, Error> {
    match part.to_str() {
        Some(part) => Ok(part.to_owned()),
        None => bail!("the name of {:?} is not UTF-8, as names of entries must be: rename it", path.display()),
    }
}

fn check(name: &str, shown: &str) -> Result<(), Error> {
    name::check(name).with_context(|| format!("the name {name:?} of {shown} is refused"))
}

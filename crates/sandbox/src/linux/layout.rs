//! The root folder of a command, as a list of steps that the supervisor takes inside of the new mount namespace.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_ulong};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::landlock::DEVICES;
use super::sys;
use crate::CommandLimits;
use crate::paths::{PathAccess, View, VisiblePath};

const READ_ONLY: u64 = 0x1;
const NO_SETUID: u64 = 0x2;
const NO_DEVICES: u64 = 0x4;

/// Files of `/proc` that tell about or act on the whole machine.
const PROC_COVERED: [&str; 7] = ["kcore", "keys", "key-users", "sysrq-trigger", "timer_list", "latency_stats", "kmsg"];

#[derive(Debug)]
pub(super) struct LayoutStep {
    action: Action,
    /// For the message if the step fails.
    pub(super) detail: String,
}

#[derive(Debug)]
enum Action {
    Private {
        target: CString,
    },
    Temporary {
        target: CString,
        options: CString,
        flags: c_ulong,
    },
    Folder {
        target: CString,
    },
    File {
        target: CString,
    },
    Link {
        text: CString,
        target: CString,
    },
    Bind {
        source: CString,
        target: CString,
        attributes: u64,
        identity: Option<(u64, u64)>,
    },
    Processes {
        target: CString,
    },
    /// A limit of the process namespace. Kernels before 6.14 have none.
    ProcessLimit {
        file: CString,
        limit: CString,
    },
    Attributes {
        target: CString,
        attributes: u64,
    },
    Root {
        target: CString,
    },
}

/// Folders on the disk that the layout needs beside the ones of the view.
#[derive(Debug)]
pub(super) struct LayoutFolders<'a> {
    /// An empty folder that becomes the root.
    pub(super) root: &'a Path,
    pub(super) empty_folder: &'a Path,
    pub(super) empty_file: &'a Path,
}

pub(super) fn steps(view: &View, places: &LayoutFolders<'_>, limits: &CommandLimits) -> Vec<LayoutStep> {
    let mut layout = Layout { root: places.root.to_owned(), steps: Vec::new(), folders: BTreeSet::new() };
    layout.push("making mounts private", Action::Private { target: c"/".to_owned() });
    let small = c"mode=0755,size=1m".to_owned();
    layout.temporary(Path::new("/"), small, libc::MS_NOSUID | libc::MS_NODEV);
    let room = limits.temporary_bytes;
    layout.devices(room);
    layout.processes(places, limits.processes);
    for visible in &view.paths {
        match visible {
            VisiblePath::Link { path, text } => layout.link(path, text),
            VisiblePath::Temporary { path } => layout.private(path, room),
            VisiblePath::Object { path, access } => {
                let (source, attributes) = match access {
                    PathAccess::Read => (path.as_path(), READ_ONLY | NO_SETUID | NO_DEVICES),
                    PathAccess::Write => (path.as_path(), NO_SETUID | NO_DEVICES),
                    PathAccess::Hidden if path.is_dir() => (places.empty_folder, READ_ONLY | NO_SETUID | NO_DEVICES),
                    PathAccess::Hidden => (places.empty_file, READ_ONLY | NO_SETUID | NO_DEVICES),
                };
                layout.bind(source, path, attributes);
            }
        }
    }
    layout.change_root();
    layout.steps
}

struct Layout {
    root: PathBuf,
    steps: Vec<LayoutStep>,
    folders: BTreeSet<PathBuf>,
}

impl Layout {
    fn push(&mut self, detail: &str, action: Action) {
        self.steps.push(LayoutStep { action, detail: detail.to_owned() });
    }

    /// The path below the new root.
    fn inside(&self, path: &Path) -> CString {
        text(&self.root.join(path.strip_prefix("/").unwrap_or(path)))
    }

    /// The folders around a path, each once.
    fn parents(&mut self, path: &Path) {
        let mut parents: Vec<_> = path.ancestors().skip(1).filter(|parent| parent.parent().is_some()).collect();
        parents.reverse();
        for parent in parents {
            if self.folders.insert(parent.to_owned()) {
                let target = self.inside(parent);
                self.push(&format!("making {}", parent.display()), Action::Folder { target });
            }
        }
    }

    fn folder(&mut self, path: &Path) {
        self.parents(&path.join("x"));
    }

    fn temporary(&mut self, path: &Path, options: CString, flags: c_ulong) {
        self.folder(path);
        let target = self.inside(path);
        self.push(&format!("mounting {}", path.display()), Action::Temporary { target, options, flags });
    }

    /// A writable folder of the command's own.
    fn private(&mut self, path: &Path, room: u64) {
        let options = CString::new(format!("mode=1777,size={room}")).unwrap_or_default();
        self.temporary(path, options, libc::MS_NOSUID | libc::MS_NODEV);
    }

    fn link(&mut self, path: &Path, to: &Path) {
        self.parents(path);
        let target = self.inside(path);
        self.push(&format!("linking {}", path.display()), Action::Link { text: text(to), target });
    }

    fn bind(&mut self, source: &Path, path: &Path, attributes: u64) {
        if source.is_dir() {
            self.folder(path);
        } else {
            self.parents(path);
            let target = self.inside(path);
            self.push(&format!("making {}", path.display()), Action::File { target });
        }
        let identity = std::fs::metadata(source).ok().map(|found| (found.dev(), found.ino()));
        let action = Action::Bind { source: text(source), target: self.inside(path), attributes, identity };
        self.push(&format!("mounting {}", path.display()), action);
    }

    fn devices(&mut self, room: u64) {
        for device in DEVICES {
            self.bind(Path::new(device), Path::new(device), NO_SETUID);
        }
        for (name, to) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
            self.link(&Path::new("/dev").join(name), &Path::new("/proc/self").join(to));
        }
        self.private(Path::new("/dev/shm"), room);
    }

    fn processes(&mut self, places: &LayoutFolders<'_>, processes: u32) {
        let proc = Path::new("/proc");
        self.folder(proc);
        let target = self.inside(proc);
        self.push("mounting a private /proc", Action::Processes { target: target.clone() });
        let file = self.inside(&proc.join("sys/kernel/pid_max"));
        let limit = CString::new(processes.max(512).to_string()).unwrap_or_default();
        self.push("limiting the number of processes", Action::ProcessLimit { file, limit });
        for name in PROC_COVERED.iter().map(|name| proc.join(name)).filter(|path| path.exists()) {
            let action = Action::Bind {
                source: text(places.empty_file),
                target: self.inside(&name),
                attributes: READ_ONLY,
                identity: None,
            };
            self.push(&format!("covering {}", name.display()), action);
        }
        let attributes = READ_ONLY | NO_SETUID | NO_DEVICES;
        self.push("making /proc read-only", Action::Attributes { target, attributes });
    }

    fn change_root(&mut self) {
        let target = text(&self.root);
        self.push("changing the root folder", Action::Root { target });
    }
}

impl LayoutStep {
    /// Called in the copy of the process.
    pub(super) fn take(&self) -> sys::Result<()> {
        match &self.action {
            Action::Private { target } => sys::mount(None, target, None, libc::MS_REC | libc::MS_PRIVATE, None),
            Action::Temporary { target, options, flags } => {
                sys::mount(Some(c"tmpfs"), target, Some(c"tmpfs"), *flags, Some(options))
            }
            Action::Folder { target } => {
                sys::make_folder(target);
                Ok(())
            }
            Action::File { target } => {
                sys::make_file(target);
                Ok(())
            }
            Action::Link { text, target } => sys::make_link(text, target),
            Action::Bind { source, target, attributes, identity } => bind(source, target, *attributes, *identity),
            Action::Processes { target } => mount_processes(target),
            Action::ProcessLimit { file, limit } => {
                let _ = sys::write_file(file, limit.as_bytes());
                Ok(())
            }
            Action::Attributes { target, attributes } => sys::add_mount_attributes(target, *attributes),
            Action::Root { target } => {
                // Only the mount of the root itself: the mounts below it have attributes of their own.
                let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;
                sys::mount(None, target, None, flags, None)?;
                sys::change_root(target)
            }
        }
    }
}

/// The object that was looked at before is the one that is mounted, or the command does not start.
fn bind(source: &CStr, target: &CStr, attributes: u64, identity: Option<(u64, u64)>) -> sys::Result<()> {
    sys::mount(Some(source), target, None, libc::MS_BIND | libc::MS_REC, None)?;
    if identity.is_some_and(|expected| sys::identity(target) != Ok(expected)) {
        return Err(sys::Errno(libc::ESTALE));
    }
    sys::add_mount_attributes(target, attributes)
}

/// Processes that the command cannot trace, such as its supervisor, are left out of the list.
fn mount_processes(target: &CStr) -> sys::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    sys::mount(Some(c"proc"), target, Some(c"proc"), flags, Some(c"hidepid=ptraceable"))
        .or_else(|_| sys::mount(Some(c"proc"), target, Some(c"proc"), flags, None))
}

/// Paths come from the file system or were checked, so they have no NUL; one that has is no path and leads nowhere.
pub(super) fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

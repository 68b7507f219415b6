//! Writing where nothing may be written.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Error, Result, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::{Attempt, Inside, private_folder};
use crate::calls;

pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("create_file", "create a file outside", |at| fs::write(at.outside("new"), "x")).changing(),
        Attempt::new("append", "append to a file outside", |at| {
            OpenOptions::new().append(true).open(at.outside("secret"))?.write_all(b"x")
        })
        .changing(),
        Attempt::new("truncate", "empty a file outside without opening it", |at| {
            calls::truncate(&at.outside("secret"))
        })
        .changing(),
        Attempt::new("delete_file", "delete a file outside", |at| fs::remove_file(at.outside("secret"))).changing(),
        Attempt::new("create_folder", "create a folder outside", |at| fs::create_dir(at.outside("new"))).changing(),
        Attempt::new("delete_folder", "delete a folder outside", |at| fs::remove_dir(at.outside("folder"))).changing(),
        Attempt::new("rename_out", "rename a file of the workspace to outside", |at| {
            inside("made")?;
            fs::rename("made", at.outside("made"))
        })
        .changing(),
        Attempt::new("rename_in", "rename a file outside into the workspace", |at| {
            fs::rename(at.outside("secret"), "taken")
        })
        .changing(),
        Attempt::new("exchange", "exchange a file outside with one of the workspace", |at| {
            calls::exchange(&at.outside("secret"), Path::new("own"))
        })
        .changing(),
        Attempt::new("hard_link_in", "write through a hard link to a file outside", |at| {
            fs::hard_link(at.outside("secret"), "linked")?;
            fs::write("linked", "x")
        })
        .changing(),
        Attempt::new("hard_link_out", "make a hard link outside", |at| fs::hard_link("own", at.outside("linked")))
            .changing(),
        Attempt::new("link", "write through a symbolic link", |at| {
            let folder = private_folder()?;
            let link = folder.path().join("link");
            symlink(at.outside("secret"), &link)?;
            OpenOptions::new().append(true).open(link)?.write_all(b"x")
        })
        .changing(),
        Attempt::new("link_swapped", "write through a folder that is swapped with a link under way", swapped)
            .changing(),
        Attempt::new("parent", "write through ..", |_| fs::write("../outside/new", "x")).changing(),
        Attempt::new("own_root", "write through /proc/self/root", |at| {
            fs::write(Path::new("/proc/self/root").join(at.outside("new").strip_prefix("/").unwrap()), "x")
        })
        .changing(),
        Attempt::new("others_root", "write through the root folder of another process", |at| {
            fs::write(at.victim().join("root").join(at.outside("new").strip_prefix("/").unwrap()), "x")
        })
        .changing(),
        Attempt::new("others_folder", "write through the working folder of another process", |at| {
            fs::write(at.victim().join("cwd/new"), "x")
        })
        .changing(),
        Attempt::new("rights", "change the rights of a file outside", |at| {
            fs::set_permissions(at.outside("secret"), fs::Permissions::from_mode(0o777))
        })
        .changing(),
        Attempt::new("rights_of_system", "change the rights of a file of the system", |_| rights_of_system())
            .for_root(),
        Attempt::new("times", "change the times of a file outside", |at| {
            let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1));
            File::open(at.outside("secret"))?.set_times(times)
        })
        .changing(),
        Attempt::new("attribute", "add an attribute to a file outside", |at| {
            calls::set_attribute(&at.outside("secret"))
        })
        .changing(),
        Attempt::new("fifo", "make a FIFO outside", |at| {
            calls::make_node(&at.outside("fifo"), libc::S_IFIFO | 0o600, 0)
        })
        .changing(),
        Attempt::new("socket_file", "make a socket outside", |at| UnixListener::bind(at.outside("made")).map(drop))
            .changing(),
        Attempt::new("device", "make a device node in the workspace", |_| {
            calls::make_node(Path::new("memory"), libc::S_IFCHR | 0o600, libc::makedev(1, 1))
        })
        .for_root(),
        Attempt::new("set_user", "leave a program that runs as its owner", |_| {
            in_own_folder(|| {
                fs::write("program", "x")?;
                fs::set_permissions("program", fs::Permissions::from_mode(0o4755))
            })
        }),
        Attempt::new("set_group", "leave a program that runs with its group", |_| {
            in_own_folder(|| {
                fs::write("program", "x")?;
                let path = c"program".as_ptr() as u64;
                calls::call(libc::SYS_fchmodat, &[libc::AT_FDCWD as u64, path, 0o2755]).map(drop)
            })
        }),
        Attempt::new("made_set_user", "make a program that runs as its owner", |_| {
            in_own_folder(|| {
                let file = File::options().write(true).create_new(true).mode(0o4755).open("program")?;
                is_set_user(&file)
            })
        }),
        Attempt::new("openat2_set_user", "make a program that runs as its owner by openat2", |_| {
            in_own_folder(|| {
                let how = [(libc::O_CREAT | libc::O_WRONLY) as u64, 0o4755, 0];
                let (path, how) = (c"program".as_ptr() as u64, how.as_ptr() as u64);
                is_set_user(&calls::descriptor(libc::SYS_openat2, &[libc::AT_FDCWD as u64, path, how, 24])?.into())
            })
        }),
        Attempt::new("hook", "add a hook that git runs later", |_| fs::write(".git/hooks/pre-commit", "x")).changing(),
        Attempt::new("replace_repository", "replace the repository by one with a hook", |_| {
            fs::rename(".git", "moved")?;
            fs::create_dir_all(".git/hooks")?;
            fs::write(".git/hooks/pre-commit", "x")
        })
        .changing(),
        Attempt::new("system_file", "write a file of the system", |_| {
            let path = Path::new("/usr/planwright-escape");
            File::options().write(true).create_new(true).mode(0o600).open(path)?;
            fs::remove_file(path)
        })
        .for_root(),
        Attempt::new("workspace_write", "write in the workspace, at read_only", |_| fs::write("own", "x"))
            .at_read_only(),
        Attempt::new("workspace_delete", "delete in the workspace, at read_only", |_| fs::remove_file("own"))
            .at_read_only(),
    ]
}

/// In the workspace, or in the temporary folder where the workspace is not writable.
fn in_own_folder(attempt: impl FnOnce() -> Result<()>) -> Result<()> {
    inside("probe")?;
    attempt()
}

fn is_set_user(file: &File) -> Result<()> {
    let is = file.metadata()?.permissions().mode() & 0o4000 != 0;
    if is { Ok(()) } else { Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "without the bit")) }
}

/// A file in the workspace, or in the temporary folder where the workspace is not writable.
fn inside(name: &str) -> Result<()> {
    fs::write(name, "x").or_else(|_| {
        std::env::set_current_dir(std::env::temp_dir())?;
        fs::write(name, "x")
    })
}

/// One thread puts a folder and a link to outside into the same place in turn, the other writes below it.
fn swapped(at: &Inside) -> Result<()> {
    let temporary = private_folder()?;
    std::env::set_current_dir(temporary.path())?;
    symlink(at.outside("folder"), "swap-link")?;
    fs::create_dir("place")?;
    let done = AtomicBool::new(false);
    let reached = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = calls::exchange(Path::new("place"), Path::new("swap-link"));
            }
        });
        let reached = (0..3_000).any(|_| {
            let _ = fs::write("place/file", "x");
            at.outside("folder/file").exists()
        });
        done.store(true, Ordering::Relaxed);
        reached
    });
    if reached { Ok(()) } else { Err(Error::from_raw_os_error(libc::ENOENT)) }
}

fn rights_of_system() -> Result<()> {
    let path = Path::new("/etc/passwd");
    let before = fs::metadata(path)?.permissions();
    fs::set_permissions(path, before)
}

//! Reading what nothing may read.

use std::fs::{self, File};
use std::io::{Error, Result};
use std::os::fd::AsRawFd as _;
use std::path::Path;

use super::{Attempt, Inside, is_secret, private_folder};
use crate::calls;

pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("ssh_key", "read a key in ~/.ssh", |at| {
            is_secret(fs::read(at.root.join("home/.ssh/id_ed25519"))?)
        }),
        Attempt::new("token", "read our token", |at| is_secret(fs::read(at.root.join("data/token"))?)),
        Attempt::new("other_project", "read a file of another project", |at| {
            is_secret(fs::read(at.outside("secret"))?)
        }),
        Attempt::new("list_home", "list the home folder", |at| {
            found(fs::read_dir(at.root.join("home"))?.flatten().any(|entry| entry.file_name() == ".ssh"))
        }),
        Attempt::new("metadata", "see that a file outside exists", |at| fs::metadata(at.outside("secret")).map(drop)),
        Attempt::new("link_text", "read where a link outside leads", |at| fs::read_link(at.outside("link")).map(drop)),
        Attempt::new("watch", "watch a folder outside for changes", watch),
        Attempt::new("read_link", "read through a symbolic link", |at| {
            let folder = private_folder()?;
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(at.outside("secret"), &link)?;
            is_secret(fs::read(link)?)
        }),
        Attempt::new("read_others_root", "read through the root folder of another process", |at| {
            let path = at.victim().join("root").join(at.outside("secret").strip_prefix("/").unwrap());
            is_secret(fs::read(path)?)
        }),
        Attempt::new("shadow", "read /etc/shadow", |_| found(fs::read_to_string("/etc/shadow")?.contains("root:")))
            .for_root(),
        Attempt::new("shared_file", "read a file of /dev/shm", |at| is_secret(fs::read(at.value("SHARED_FILE"))?)),
        Attempt::new("shared_memory", "read shared memory of another process", |at| {
            found(calls::shared_memory(at.number("MEMORY_KEY"))? == b"secret")
        }),
        Attempt::new("kernel_messages", "read the messages of the kernel", |_| File::open("/dev/kmsg").map(drop))
            .for_root(),
        Attempt::new("kernel_log", "read the log of the kernel by its call", |_| {
            calls::call(libc::SYS_syslog, &[10, 0, 0]).map(drop)
        })
        .for_root(),
        Attempt::new("by_handle", "open a folder by its number", |_| calls::open_by_handle(Path::new(".")).map(drop))
            .for_root(),
        Attempt::new("interfaces", "list the network interfaces of the machine", |_| {
            found(fs::read_dir("/sys/class/net")?.count() > 0)
        }),
    ]
}

fn found(found: bool) -> Result<()> {
    if found { Ok(()) } else { Err(Error::from_raw_os_error(libc::ENOENT)) }
}

fn watch(at: &Inside) -> Result<()> {
    let watches = calls::descriptor(libc::SYS_inotify_init1, &[0])?;
    let path = calls::text(&at.outside("folder"));
    let events = u64::from(libc::IN_ALL_EVENTS);
    calls::call(libc::SYS_inotify_add_watch, &[watches.as_raw_fd() as u64, path.as_ptr() as u64, events]).map(drop)
}

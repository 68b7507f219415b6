//! Using parts of the kernel that undo the sandbox.

use std::fs::{self, File};
use std::io::Result;
use std::os::fd::AsRawFd as _;

use super::{Attempt, private_folder};
use crate::calls;

pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("mount", "mount a file system", |_| {
            let folder = private_folder()?;
            calls::mount_over(folder.path())
        })
        .for_root(),
        Attempt::new("new_mount", "open a file system by the newer calls", |_| {
            let kind = c"tmpfs".as_ptr() as u64;
            calls::descriptor(libc::SYS_fsopen, &[kind, 0]).map(drop)
        })
        .for_root(),
        Attempt::new("copy_mounts", "copy the tree of mounts", |_| {
            let here = libc::AT_FDCWD as u64;
            calls::descriptor(libc::SYS_open_tree, &[here, c"/".as_ptr() as u64, libc::OPEN_TREE_CLONE.into()])
                .map(drop)
        })
        .for_root(),
        Attempt::new("copy_mounts_changed", "copy the tree of mounts with other attributes", |_| {
            const OPEN_TREE_ATTR: i64 = 467;
            let here = libc::AT_FDCWD as u64;
            let arguments = [here, c"/".as_ptr() as u64, libc::OPEN_TREE_CLONE.into(), 0, 0];
            calls::descriptor(OPEN_TREE_ATTR, &arguments).map(drop)
        })
        .for_root(),
        Attempt::new("chroot", "change the root folder", |_| {
            calls::call(libc::SYS_chroot, &[c"/".as_ptr() as u64]).map(drop)
        })
        .for_root(),
        Attempt::new("user_namespace", "make a user namespace", |_| {
            calls::call(libc::SYS_unshare, &[libc::CLONE_NEWUSER as u64]).map(drop)
        }),
        Attempt::new("user_namespace_clone3", "make a user namespace by clone3", |_| {
            calls::new_user_namespace_by_clone3()
        }),
        Attempt::new("enter_namespace", "enter the network namespace of another process", |at| {
            let network = File::open(at.victim().join("ns/net"))?;
            calls::call(libc::SYS_setns, &[network.as_raw_fd() as u64, libc::CLONE_NEWNET as u64]).map(drop)
        })
        .for_root(),
        Attempt::new("io_uring", "use io_uring", |_| {
            let parameters = [0_u64; 32];
            calls::descriptor(libc::SYS_io_uring_setup, &[1, parameters.as_ptr() as u64]).map(drop)
        }),
        Attempt::new("bpf", "load a map into the kernel", |_| {
            // An array of one number.
            let attributes = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            let arguments = [0, attributes.as_ptr() as u64, size_of_val(&attributes) as u64];
            calls::descriptor(libc::SYS_bpf, &arguments).map(drop)
        })
        .for_root(),
        Attempt::new("performance", "count events of the whole machine", |_| performance()).for_root(),
        Attempt::new("page_faults", "handle page faults", |_| calls::descriptor(libc::SYS_userfaultfd, &[1]).map(drop)),
        Attempt::new("keyring", "use the keyring of the user", |_| {
            // The number of the ring; -4 is the user's.
            calls::call(libc::SYS_keyctl, &[0, (-4_i64) as u64, 1]).map(drop)
        }),
        Attempt::new("host_name", "change the name of the machine", |_| {
            let name = fs::read_to_string("/proc/sys/kernel/hostname")?;
            let name = name.trim().as_bytes();
            calls::call(libc::SYS_sethostname, &[name.as_ptr() as u64, name.len() as u64]).map(drop)
        })
        .for_root(),
        Attempt::new("kernel_setting", "change a setting of the kernel", |_| setting()).for_root(),
        Attempt::new("terminal_input", "type into a terminal", |_| calls::type_into_terminal()).for_root(),
        Attempt::new("pseudo_terminal", "make a terminal", |_| {
            File::options().read(true).write(true).open("/dev/ptmx").map(drop)
        }),
        Attempt::new("real_time", "take the processor in real time", |_| {
            let priority = [1_i32];
            calls::call(libc::SYS_sched_setscheduler, &[0, libc::SCHED_FIFO as u64, priority.as_ptr() as u64]).map(drop)
        })
        .for_root(),
        Attempt::new("module", "unload a module of the kernel", |_| {
            // There is no such module: that answer shows that the call is permitted.
            match calls::call(libc::SYS_delete_module, &[c"planwright_none".as_ptr() as u64, 0x800]) {
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
                other => other.map(drop),
            }
        })
        .for_root(),
    ]
}

fn performance() -> Result<()> {
    let mut attributes = [0_u32; 32];
    // A software event (1), the length of the structure, the processor's clock (0).
    attributes[0] = 1;
    attributes[1] = 128;
    let arguments = [attributes.as_ptr() as u64, u64::MAX, 0, u64::MAX, 0];
    calls::descriptor(libc::SYS_perf_event_open, &arguments).map(drop)
}

fn setting() -> Result<()> {
    let path = "/proc/sys/kernel/printk_ratelimit_burst";
    let before = fs::read(path)?;
    fs::write(path, before)
}

//! Maps the user and the group into a new user namespace.
//!
//! In `/proc` the files of a process that others may not trace belong to root. The supervisor of a program that has taken a passphrase is such a
//! process from its first instruction, and it never opens its memory. It writes the maps of a helper in the same namespace instead. The helper
//! executes this program, so that it has nothing of the copied memory, and is stopped before the first instruction of it.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::sys::{self, Errno};

/// Each of them in the form of `/proc/PID/uid_map`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maps<'a> {
    pub(super) user: &'a CStr,
    pub(super) group: &'a CStr,
}

impl Maps<'_> {
    /// Needs a descriptor of `/dev/null`.
    pub(super) fn write(self, null: RawFd) -> sys::Result<()> {
        let own = open_own_folder()?;
        let written = self.write_into(own);
        sys::close(own);
        match written {
            Err(Errno(libc::EACCES)) => self.write_through_helper(null),
            Ok(()) | Err(_) => written,
        }
    }

    fn write_into(self, folder: RawFd) -> sys::Result<()> {
        sys::write_file_in(folder, c"setgroups", b"deny")?;
        sys::write_file_in(folder, c"uid_map", self.user.to_bytes())?;
        sys::write_file_in(folder, c"gid_map", self.group.to_bytes())
    }

    fn write_through_helper(self, null: RawFd) -> sys::Result<()> {
        // The helper replaces it with its folder of /proc: both have one table of descriptors until the helper executes the program.
        let folder = sys::duplicate(null)?;
        let Some((_handle, helper)) = sys::clone_process(libc::CLONE_FILES)? else { become_helper(folder) };
        let written = sys::wait_stopped(helper).and_then(|()| self.write_into(folder));
        sys::send_signal(helper, libc::SIGKILL);
        let _ = sys::wait_blocking(helper);
        sys::close(folder);
        written
    }
}

fn open_own_folder() -> sys::Result<RawFd> {
    sys::open(c"/proc/self", libc::O_PATH | libc::O_DIRECTORY)
}

fn become_helper(folder: RawFd) -> ! {
    if let Ok(own) = open_own_folder() {
        let _ = sys::duplicate_to(own, folder);
        sys::close(own);
        if sys::stop_when_executing().is_ok() {
            sys::execute(c"/proc/self/exe", &[c"planwright".as_ptr(), std::ptr::null()], &[std::ptr::null()]);
        }
    }
    sys::exit(1)
}

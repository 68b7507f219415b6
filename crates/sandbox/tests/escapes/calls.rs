//! System calls that the attempts make.

#![allow(unsafe_code, reason = "the attempts make calls that no safe library offers")]

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

pub(crate) fn checked(result: i64) -> Result<i64> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

pub(crate) fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Any call, with up to six numbers.
pub(crate) fn call(number: i64, arguments: &[u64]) -> Result<i64> {
    let at = |index: usize| arguments.get(index).copied().unwrap_or(0);
    // SAFETY: the callers pass numbers, or pointers that live until the call returns.
    checked(unsafe { libc::syscall(number, at(0), at(1), at(2), at(3), at(4), at(5)) })
}

pub(crate) fn descriptor(number: i64, arguments: &[u64]) -> Result<OwnedFd> {
    let made = call(number, arguments)?;
    // SAFETY: the call made it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(made as RawFd) })
}

pub(crate) fn socket(family: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    descriptor(libc::SYS_socket, &[family as u64, kind as u64, protocol as u64])
}

pub(crate) fn truncate(path: &Path) -> Result<()> {
    let path = text(path);
    call(libc::SYS_truncate, &[path.as_ptr() as u64, 0]).map(drop)
}

pub(crate) fn exchange(one: &Path, other: &Path) -> Result<()> {
    let (one, other) = (text(one), text(other));
    let here = libc::AT_FDCWD as u64;
    let arguments = [here, one.as_ptr() as u64, here, other.as_ptr() as u64, libc::RENAME_EXCHANGE.into()];
    call(libc::SYS_renameat2, &arguments).map(drop)
}

pub(crate) fn make_node(path: &Path, mode: u32, device: u64) -> Result<()> {
    let path = text(path);
    let arguments = [libc::AT_FDCWD as u64, path.as_ptr() as u64, mode.into(), device];
    call(libc::SYS_mknodat, &arguments).map(drop)
}

pub(crate) fn set_attribute(path: &Path) -> Result<()> {
    let path = text(path);
    let arguments = [path.as_ptr() as u64, c"user.planwright".as_ptr() as u64, c"x".as_ptr() as u64, 1, 0];
    call(libc::SYS_setxattr, &arguments).map(drop)
}

/// Reads memory of another process at the address of something in this one: the same program, another layout. A refusal
/// differs from a wrong address, which is EFAULT.
pub(crate) fn read_memory(pid: i32) -> Result<()> {
    let mut buffer = [0_u8; 8];
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(4096), iov_len: 8 };
    let arguments = [pid as u64, &raw const local as u64, 1, &raw const remote as u64, 1];
    match call(libc::SYS_process_vm_readv, &arguments) {
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other.map(drop),
    }
}

pub(crate) fn trace(pid: i32) -> Result<()> {
    call(libc::SYS_ptrace, &[libc::PTRACE_SEIZE as u64, pid as u64, 0, 0])?;
    call(libc::SYS_ptrace, &[libc::PTRACE_INTERRUPT as u64, pid as u64, 0, 0]).map(drop)
}

pub(crate) fn signal(pid: i32, signal: i32) -> Result<()> {
    call(libc::SYS_kill, &[pid as u64, signal as u64]).map(drop)
}

pub(crate) fn mount_over(path: &Path) -> Result<()> {
    let path = text(path);
    let kind = c"tmpfs".as_ptr() as u64;
    call(libc::SYS_mount, &[kind, path.as_ptr() as u64, kind, 0, 0])?;
    call(libc::SYS_umount2, &[path.as_ptr() as u64, libc::MNT_DETACH as u64]).map(drop)
}

pub(crate) fn new_user_namespace_by_clone3() -> Result<()> {
    let arguments = [libc::CLONE_NEWUSER as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
    // SAFETY: without CLONE_VM the copy has its own memory; it ends at once.
    match checked(unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) })? {
        0 => unsafe { libc::_exit(0) },
        pid => call(libc::SYS_wait4, &[pid as u64, 0, 0, 0]).map(drop),
    }
}

/// Types a character into a terminal of its own, made for the purpose.
pub(crate) fn type_into_terminal() -> Result<()> {
    // SAFETY: plain calls on descriptors of this process; the path ends in NUL.
    unsafe {
        libc::setsid();
        let main = checked(libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY).into())? as i32;
        checked(libc::grantpt(main).into())?;
        checked(libc::unlockpt(main).into())?;
        let mut name = [0; 64];
        libc::ptsname_r(main, name.as_mut_ptr(), name.len());
        let terminal = checked(libc::open(name.as_ptr(), libc::O_RDWR).into())? as i32;
        libc::ioctl(terminal, libc::TIOCSCTTY, 0);
        checked(libc::ioctl(terminal, libc::TIOCSTI, c"x".as_ptr()).into()).map(drop)
    }
}

/// The first bytes of the shared memory with this key.
pub(crate) fn shared_memory(key: i32) -> Result<Vec<u8>> {
    // SAFETY: the segment is at least as long as what is read.
    unsafe {
        let id = checked(libc::shmget(key, 16, 0).into())? as i32;
        let address = libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY);
        if address as isize == -1 {
            return Err(Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(address.cast::<u8>(), 6).to_vec())
    }
}

/// Shared memory that lives as long as this value.
pub(crate) struct SharedMemory {
    id: i32,
    pub(crate) key: i32,
}

impl SharedMemory {
    pub(crate) fn new(content: &[u8; 6]) -> Self {
        let key = 0x5000_0000 | (std::process::id() as i32 & 0xffff) << 8 | i32::from(rand_byte());
        // SAFETY: the segment is longer than the content.
        unsafe {
            let id = libc::shmget(key, 16, libc::IPC_CREAT | 0o600);
            let address = libc::shmat(id, std::ptr::null(), 0);
            std::ptr::copy_nonoverlapping(content.as_ptr(), address.cast(), content.len());
            libc::shmdt(address);
            Self { id, key }
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: removes the segment made above.
        unsafe { libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// Trials run at the same time, so each has a key of its own.
fn rand_byte() -> u8 {
    static NEXT: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes no argument.
    unsafe { libc::geteuid() }
}

pub(crate) fn open_by_handle(path: &Path) -> Result<OwnedFd> {
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: i32,
        data: [u8; 128],
    }
    let mut handle = Handle { bytes: 128, kind: 0, data: [0; 128] };
    let mut mount = 0_i32;
    let name = text(path);
    let pointer = &raw mut handle as u64;
    let arguments = [libc::AT_FDCWD as u64, name.as_ptr() as u64, pointer, &raw mut mount as u64, 0];
    call(libc::SYS_name_to_handle_at, &arguments)?;
    let folder = std::fs::File::open(path)?;
    descriptor(libc::SYS_open_by_handle_at, &[folder.as_raw_fd() as u64, pointer, libc::O_RDONLY as u64])
}

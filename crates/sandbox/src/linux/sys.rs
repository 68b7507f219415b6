//! System calls as safe functions. Those that the supervisor uses allocate nothing and take no lock: it is a copy of a
//! process with many threads, of which only the calling one exists any more.

#![allow(unsafe_code, reason = "these calls have no safe wrapper that is usable between clone and exec")]

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// A number of `errno.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Errno(pub(super) i32);

pub(super) type Result<T> = std::result::Result<T, Errno>;

pub(super) fn last() -> Errno {
    // SAFETY: the pointer is to this thread's own errno.
    Errno(unsafe { *libc::__errno_location() })
}

fn checked(result: c_int) -> Result<c_int> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

fn checked_long(result: c_long) -> Result<c_long> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(std::ptr::null(), CStr::as_ptr)
}

/// A copy of this process, in new namespaces if the flags say so. `None` in the copy; in the original the handle of the
/// copy. Signals are blocked in both; [`unblock_signals`] restores them.
pub(super) fn clone_process(flags: c_int) -> Result<Option<(OwnedFd, i32)>> {
    let mut pidfd: c_int = -1;
    let flags = (flags | libc::SIGCHLD | libc::CLONE_PIDFD) as c_ulong;
    // SAFETY: without CLONE_VM the copy has its own memory and continues on its own copy of this stack.
    let pid =
        unsafe { libc::syscall(libc::SYS_clone, flags, 0 as c_ulong, &raw mut pidfd, 0 as c_ulong, 0 as c_ulong) };
    match checked_long(pid)? {
        0 => Ok(None),
        // SAFETY: the kernel made this descriptor for us and nothing else owns it.
        pid => Ok(Some((unsafe { OwnedFd::from_raw_fd(pidfd) }, pid as i32))),
    }
}

/// Blocks all signals of this thread and returns the mask of before.
pub(super) fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are valid for the calls.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        before
    }
}

pub(super) fn unblock_signals(before: &libc::sigset_t) {
    // SAFETY: the set is valid for the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

/// Every signal has its default action; none is blocked but the given one.
pub(super) fn reset_signals(blocked: Option<c_int>) {
    // SAFETY: the structures are valid; signals that cannot be changed are refused by the kernel without harm.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        for signal in 1..=64 {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        if let Some(signal) = blocked {
            libc::sigaddset(&mut mask, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
    }
}

/// A descriptor that is readable when the signal is pending.
pub(super) fn signal_descriptor(signal: c_int) -> Result<RawFd> {
    // SAFETY: the set is valid for the call.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        libc::sigaddset(&mut mask, signal);
        checked(libc::signalfd(-1, &mask, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))
    }
}

pub(super) fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: c_ulong,
    data: Option<&CStr>,
) -> Result<()> {
    // SAFETY: every pointer is null or to a string that ends in NUL.
    let result = unsafe { libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, pointer(data).cast()) };
    checked(result).map(drop)
}

/// Adds attributes to a mount and to all mounts below it.
pub(super) fn add_mount_attributes(target: &CStr, attributes: u64) -> Result<()> {
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let change = MountAttributes { set: attributes, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: the structure has the layout and the size that are given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const change,
            std::mem::size_of::<MountAttributes>(),
        )
    };
    checked_long(result).map(drop)
}

/// Makes the folder the root and detaches the root of before.
pub(super) fn change_root(root: &CStr) -> Result<()> {
    change_folder(root)?;
    // SAFETY: the strings end in NUL.
    unsafe {
        checked_long(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()))?;
        checked(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
    }
    change_folder(c"/")
}

pub(super) fn change_folder(path: &CStr) -> Result<()> {
    // SAFETY: the string ends in NUL.
    checked(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// A folder that exists already is no error; its mount fails later if it is something else.
pub(super) fn make_folder(path: &CStr) {
    // SAFETY: the string ends in NUL.
    unsafe { libc::mkdir(path.as_ptr(), 0o755) };
}

pub(super) fn make_file(path: &CStr) {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the string ends in NUL, and the descriptor is closed at once.
    unsafe {
        let file = libc::open(path.as_ptr(), flags, 0o644 as c_uint);
        if file >= 0 {
            libc::close(file);
        }
    }
}

pub(super) fn make_link(text: &CStr, path: &CStr) -> Result<()> {
    // SAFETY: both strings end in NUL.
    checked(unsafe { libc::symlink(text.as_ptr(), path.as_ptr()) }).map(drop)
}

pub(super) fn open(path: &CStr, flags: c_int) -> Result<RawFd> {
    // SAFETY: the string ends in NUL.
    checked(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) })
}

pub(super) fn close(descriptor: RawFd) {
    // SAFETY: the supervisor calls it only for descriptors of its own table.
    unsafe { libc::close(descriptor) };
}

/// Device and inode of what the path leads to.
pub(super) fn identity(path: &CStr) -> Result<(u64, u64)> {
    // SAFETY: the structure is valid for the call.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        checked(libc::stat(path.as_ptr(), &mut found))?;
        Ok((found.st_dev as u64, found.st_ino as u64))
    }
}

pub(super) fn read(descriptor: RawFd, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) };
    if count < 0 { Err(last()) } else { Ok(count as usize) }
}

pub(super) fn write(descriptor: RawFd, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
    if count < 0 { Err(last()) } else { Ok(count as usize) }
}

/// Writes a small file of the kernel in one piece.
pub(super) fn write_file(path: &CStr, bytes: &[u8]) -> Result<()> {
    write_file_in(libc::AT_FDCWD, path, bytes)
}

/// Writes a small file in an open folder in one piece.
pub(super) fn write_file_in(folder: RawFd, name: &CStr, bytes: &[u8]) -> Result<()> {
    // SAFETY: the string ends in NUL.
    let file = checked(unsafe { libc::openat(folder, name.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) })?;
    let written = write(file, bytes);
    close(file);
    written.map(drop)
}

pub(super) fn duplicate(descriptor: RawFd) -> Result<RawFd> {
    // SAFETY: a plain number; the kernel checks it.
    checked(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) })
}

pub(super) fn duplicate_to(from: RawFd, to: RawFd) -> Result<()> {
    // SAFETY: plain numbers; the kernel checks them.
    checked(unsafe { libc::dup2(from, to) }).map(drop)
}

pub(super) fn close_range(first: u32, last: u32) {
    if first <= last {
        // SAFETY: the copy of the process uses none of these descriptors.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

pub(super) fn new_session() {
    // SAFETY: takes no argument.
    unsafe { libc::setsid() };
}

pub(super) fn wait_any() -> Result<Option<(i32, i32)>> {
    let mut status = 0;
    // SAFETY: the status is valid for the call.
    match checked(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) })? {
        0 => Ok(None),
        pid => Ok(Some((pid, status))),
    }
}

pub(super) fn wait_blocking(pid: i32) -> Result<i32> {
    let mut status = 0;
    // SAFETY: the status is valid for the call.
    checked(unsafe { libc::waitpid(pid, &mut status, 0) })?;
    Ok(status)
}

/// Waits until a child that called [`stop_when_executing`] has stopped. One that has ended instead was refused.
pub(super) fn wait_stopped(pid: i32) -> Result<()> {
    let mut status = 0;
    // SAFETY: the status is valid for the call.
    checked(unsafe { libc::waitpid(pid, &mut status, 0) })?;
    if libc::WIFSTOPPED(status) { Ok(()) } else { Err(Errno(libc::EPERM)) }
}

/// The kernel stops this process when it executes a program, before the first instruction of it.
pub(super) fn stop_when_executing() -> Result<()> {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: this request takes neither an address nor data.
    checked_long(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, nothing, nothing) }).map(drop)
}

pub(super) fn send_signal(pid: i32, signal: c_int) {
    // SAFETY: plain numbers; the kernel checks them.
    unsafe { libc::kill(pid, signal) };
}

pub(super) fn kill_by_descriptor(pidfd: RawFd) {
    // SAFETY: the kernel checks the descriptor; no information is attached.
    unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, std::ptr::null::<libc::siginfo_t>(), 0);
    }
}

pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: ends the process without running anything of the copied program.
    unsafe { libc::_exit(code) }
}

pub(super) fn set_process_option(option: c_int, value: c_ulong) -> Result<c_int> {
    // SAFETY: the options used take plain numbers.
    checked(unsafe { libc::prctl(option, value, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) })
}

pub(super) fn set_limit(resource: libc::__rlimit_resource_t, value: u64) {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: the structure is valid for the call.
    unsafe { libc::setrlimit(resource, &limit) };
}

/// Gives up every capability, and the way to get one back by running a program.
pub(super) fn drop_capabilities() -> Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, each with its lock.
    const SECURE_BITS: c_ulong = 0b1110_1111;
    for capability in 0..64 {
        let _ = set_process_option(libc::PR_CAPBSET_DROP, capability);
    }
    let _ = set_process_option(libc::PR_SET_SECUREBITS, SECURE_BITS);
    let _ = set_process_option(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as c_ulong);
    let header = Header { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: header and data have the layout of version 3.
    checked_long(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(drop)
}

/// Switches on the loopback interface of a new network namespace.
pub(super) fn loopback_up() -> Result<()> {
    // SAFETY: the request is zeroed and carries a short name that ends in NUL.
    unsafe {
        let socket = checked(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as c_char;
        request.ifr_name[1] = b'o' as c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        let result = checked(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &request));
        libc::close(socket);
        result.map(drop)
    }
}

pub(super) fn landlock_abi() -> Result<i32> {
    const VERSION: c_ulong = 1;
    // SAFETY: asks for the version only.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0 as c_ulong, VERSION) };
    checked_long(result).map(|abi| abi as i32)
}

/// Adds a rule for the object behind the descriptor.
pub(super) fn landlock_allow(ruleset: RawFd, object: RawFd, access: u64) -> Result<()> {
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        object: i32,
    }
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { access, object };
    // SAFETY: the structure has the layout of this kind of rule.
    let result = unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0) };
    checked_long(result).map(drop)
}

pub(super) fn landlock_restrict(ruleset: RawFd) -> Result<()> {
    // SAFETY: plain numbers; the kernel checks them.
    checked_long(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) }).map(drop)
}

/// Whether the kernel filters system calls.
pub(super) fn seccomp_available() -> Result<()> {
    const GET_ACTION_AVAILABLE: c_int = 2;
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the action is valid for the call.
    checked_long(unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAILABLE, 0, &raw const action) }).map(drop)
}

pub(super) fn seccomp_apply(program: &[seccompiler::sock_filter]) -> Result<()> {
    const SET_MODE_FILTER: c_int = 1;
    #[repr(C)]
    struct Program {
        length: u16,
        filter: *const seccompiler::sock_filter,
    }
    let program = Program { length: program.len() as u16, filter: program.as_ptr() };
    // SAFETY: the program is valid for its length.
    checked_long(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, 0, &raw const program) }).map(drop)
}

/// Runs the program in the place of this process. Returns only if that fails.
pub(super) fn execute(program: &CStr, arguments: &[*const c_char], environment: &[*const c_char]) -> Errno {
    // SAFETY: both arrays end in null, and their strings live as long as the process image.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    last()
}

/// Waits until one of the descriptors is readable or closed, or the time has passed.
pub(super) fn poll<const N: usize>(descriptors: [RawFd; N], milliseconds: c_int) -> [bool; N] {
    let mut polled = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the array is valid for its length.
    let count = unsafe { libc::poll(polled.as_mut_ptr(), N as _, milliseconds) };
    polled.map(|entry| count > 0 && entry.revents != 0)
}

pub(super) fn user() -> (u32, u32) {
    // SAFETY: takes no argument.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

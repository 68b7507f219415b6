//! The filter of system calls: what a command has no use for, and what would lead out of the other layers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Younger than the list of the library, and the same number on every processor.
const OPEN_TREE_ATTR: i64 = 467;
const FCHMODAT2: i64 = 452;

/// Refused with EPERM, whatever the arguments.
const REFUSED: &[i64] = &[
    // Other processes' memory, descriptors and registers.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    // Files by number, past every path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // Keyrings are shared by all processes of a user.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Large and young parts of the kernel that builds and tests do not need.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

const NEW_NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    0x80, // CLONE_NEWTIME
];

const SET_USER: u64 = libc::S_ISUID as u64;
const SET_GROUP: u64 = libc::S_ISGID as u64;
const O_CREAT: u64 = libc::O_CREAT as u64;
/// Without the flag for folders, which is another number on every processor.
const O_TMPFILE: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;

/// Calls that give a file a mode, with the position of the mode. A program that runs as its owner would outlive the sandbox.
const CHANGING_MODE: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that may make a file, with the positions of the flags and of the mode.
const OPENING: &[(i64, u8, u8)] = &[
    (libc::SYS_openat, 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
];

/// Puts characters into a terminal's input, or works on a virtual console.
const TERMINAL_INPUT: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// The families of sockets that are left. In a network namespace of its own the internet ones reach the command's own
/// processes only. Others, such as the one to the host of a virtual machine, know no namespaces.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Compiled once for all commands.
pub(super) fn program() -> Result<&'static BpfProgram, String> {
    static PROGRAM: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
    PROGRAM.get_or_init(compile).as_ref().map_err(String::clone)
}

fn compile() -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|_| format!("no filter for {}", std::env::consts::ARCH))?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = rules().and_then(|rules| SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch));
    let compiled: BpfProgram = filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())?;
    Ok(prelude().into_iter().chain(compiled).collect())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules() -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let any_namespace = NEW_NAMESPACES.iter().map(|flag| has_bits(0, *flag as u64)).collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_unshare, any_namespace.clone());
    // The eighth flag is a signal number in `clone`.
    rules.insert(libc::SYS_clone, any_namespace[..7].to_vec());
    let terminal = TERMINAL_INPUT.iter().map(|request| SeccompRule::new(vec![equals(1, *request)?]));
    rules.insert(libc::SYS_ioctl, terminal.collect::<Result<Vec<_>, _>>()?);
    let families = FAMILIES.iter().map(|family| differs(0, *family as u64)).collect::<Result<Vec<_>, _>>()?;
    let netlink = equals(0, libc::AF_NETLINK as u64)?;
    let not_netlink = differs(0, libc::AF_NETLINK as u64)?;
    let raw = SeccompCondition::new(1, Length::Dword, Op::MaskedEq(0xf), libc::SOCK_RAW as u64)?;
    let packet = SeccompCondition::new(1, Length::Dword, Op::MaskedEq(0xf), 10)?;
    rules.insert(
        libc::SYS_socket,
        vec![
            SeccompRule::new(families)?,
            SeccompRule::new(vec![netlink, differs(2, libc::NETLINK_ROUTE as u64)?])?,
            SeccompRule::new(vec![not_netlink, raw])?,
            SeccompRule::new(vec![packet])?,
        ],
    );
    for (call, mode) in CHANGING_MODE {
        rules.insert(*call, vec![has_bits(*mode, SET_USER)?, has_bits(*mode, SET_GROUP)?]);
    }
    for (call, flags, mode) in OPENING {
        let bits = |argument, bits| SeccompCondition::new(argument, Length::Dword, Op::MaskedEq(bits), bits);
        let mut making = Vec::new();
        for (flag, set) in [(O_CREAT, SET_USER), (O_CREAT, SET_GROUP), (O_TMPFILE, SET_USER), (O_TMPFILE, SET_GROUP)] {
            making.push(SeccompRule::new(vec![bits(*flags, flag)?, bits(*mode, set)?])?);
        }
        rules.insert(*call, making);
    }
    rules.insert(libc::SYS_socketpair, vec![SeccompRule::new(vec![differs(0, libc::AF_UNIX as u64)?])?]);
    Ok(rules)
}

fn has_bits(argument: u8, bits: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, Length::Qword, Op::MaskedEq(bits), bits)?])
}

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Length::Dword, Op::Eq, value)
}

fn differs(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Length::Dword, Op::Ne, value)
}

/// What the compiler of rules cannot say. Numbers from 0x40000000 on are a second set of numbers for the same calls,
/// which would pass every rule. `clone3` and `openat2` have their flags in memory, where no filter sees them; without them
/// programs use `clone` and `openat`.
fn prelude() -> Vec<sock_filter> {
    const LOAD_NUMBER: u16 = 0x20;
    const IF_GREATER_OR_EQUAL: u16 = 0x35;
    const IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const SECOND_SET: u32 = 0x4000_0000;
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(IF_GREATER_OR_EQUAL, 2, 0, SECOND_SET),
        step(IF_EQUAL, 1, 0, libc::SYS_clone3 as u32),
        step(IF_EQUAL, 0, 1, libc::SYS_openat2 as u32),
        step(RETURN, 0, 0, absent),
    ]
}

//! What the supervisor tells this process, over a pipe, in messages of eight bytes.

use std::os::fd::RawFd;

use super::sys;

pub(super) const MESSAGE_BYTES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// Everything is in place; the shell starts next.
    Ready,
    Failed {
        step: Step,
        errno: i32,
    },
    /// The shell ended with this status of `waitpid`.
    Ended {
        status: i32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    UserMap,
    Loopback,
    Layout(u16),
    Capabilities,
    NoNewPrivileges,
    Fork,
    WorkingFolder,
    Landlock,
    Seccomp,
    Execute,
}

const LAYOUT_FROM: u16 = 100;

impl Report {
    pub(super) fn send(self, pipe: RawFd) {
        let (kind, step, value): (u8, u16, i32) = match self {
            Self::Ready => (1, 0, 0),
            Self::Failed { step, errno } => (2, step.number(), errno),
            Self::Ended { status } => (3, 0, status),
        };
        let mut message = [0; MESSAGE_BYTES];
        message[0] = kind;
        message[2..4].copy_from_slice(&step.to_le_bytes());
        message[4..].copy_from_slice(&value.to_le_bytes());
        let _ = sys::write(pipe, &message);
    }

    pub(super) fn parse(message: [u8; MESSAGE_BYTES]) -> Option<Self> {
        let [kind, _, step_low, step_high, a, b, c, d] = message;
        let value = i32::from_le_bytes([a, b, c, d]);
        match kind {
            1 => Some(Self::Ready),
            2 => Some(Self::Failed { step: Step::numbered(u16::from_le_bytes([step_low, step_high]))?, errno: value }),
            3 => Some(Self::Ended { status: value }),
            _ => None,
        }
    }
}

impl Step {
    const PLAIN: [Self; 9] = [
        Self::UserMap,
        Self::Loopback,
        Self::Capabilities,
        Self::NoNewPrivileges,
        Self::Fork,
        Self::WorkingFolder,
        Self::Landlock,
        Self::Seccomp,
        Self::Execute,
    ];

    fn number(self) -> u16 {
        match self {
            Self::UserMap => 0,
            Self::Loopback => 1,
            Self::Capabilities => 2,
            Self::NoNewPrivileges => 3,
            Self::Fork => 4,
            Self::WorkingFolder => 5,
            Self::Landlock => 6,
            Self::Seccomp => 7,
            Self::Execute => 8,
            Self::Layout(index) => LAYOUT_FROM + index,
        }
    }

    fn numbered(number: u16) -> Option<Self> {
        match number.checked_sub(LAYOUT_FROM) {
            Some(index) => Some(Self::Layout(index)),
            None => Self::PLAIN.get(usize::from(number)).copied(),
        }
    }

    /// What was tried, as the subject of a sentence. Steps of the layout have words of their own.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::UserMap => "mapping the user into a new user namespace",
            Self::Loopback => "switching on the loopback interface of a new network namespace",
            Self::Capabilities => "giving up capabilities",
            Self::NoNewPrivileges => "setting no-new-privileges",
            Self::Fork => "starting a process",
            Self::WorkingFolder => "entering the working folder",
            Self::Landlock => "enforcing the Landlock rules",
            Self::Seccomp => "installing the seccomp filter",
            Self::Execute => "executing the program",
            Self::Layout(_) => "building the root folder",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_sent() {
        let steps = Step::PLAIN.into_iter().chain([Step::Layout(0), Step::Layout(900)]);
        let failures = steps.map(|step| Report::Failed { step, errno: 13 });
        for report in failures.chain([Report::Ready, Report::Ended { status: 256 }]) {
            let (mut reader, writer) = std::io::pipe().unwrap();
            report.send(std::os::fd::AsRawFd::as_raw_fd(&writer));
            let mut message = [0; MESSAGE_BYTES];
            std::io::Read::read_exact(&mut reader, &mut message).unwrap();
            assert_eq!(Report::parse(message), Some(report));
        }
        assert_eq!(Report::parse([9; MESSAGE_BYTES]), None);
    }
}

//! The system's service for remote logins, with keys and a port of its own.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::place::user;
use crate::shell::until;

const SERVICES: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];

/// `sshd` separates its rights there. The system makes the folder when it starts the service.
const RIGHTS: &str = "/run/sshd";

pub(crate) struct OpenSsh {
    child: Child,
    port: u16,
    key: PathBuf,
}

/// Whether root can log in here. If not, the test is skipped. The system's service is root's, so an ordinary user makes none of these tests.
pub(crate) fn has_openssh() -> bool {
    if user() != 0 {
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    let works = OpenSsh::start(folder.path()).is_some_and(|service| {
        let trial = Command::new("sh").args(["-c", &service.login("true")]).stdin(Stdio::null()).output();
        trial.is_ok_and(|output| output.status.success())
    });
    if !works {
        skip(Prerequisite::OpenSsh, "root cannot log in through an `sshd` here");
    }
    works
}

impl OpenSsh {
    /// `None` where it is not installed, or does not start.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        let program = SERVICES.into_iter().find(|program| Path::new(program).exists())?;
        let file = |name: &str| folder.join(name);
        for name in ["host_key", "own_key"] {
            let mut generate = Command::new("ssh-keygen");
            generate.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file(name)).stdin(Stdio::null());
            generate.status().ok().filter(std::process::ExitStatus::success)?;
        }
        std::fs::create_dir_all(RIGHTS).ok()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?.local_addr().ok()?.port();
        let [host, authorized] = ["host_key", "own_key.pub"].map(|name| file(name).display().to_string());
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {host}\nAuthorizedKeysFile {authorized}\nStrictModes no\nUsePAM no\n\
             PidFile none\nPermitRootLogin yes\nPasswordAuthentication no\n"
        );
        std::fs::write(file("sshd_config"), settings).ok()?;
        let mut command = Command::new(program);
        command.args(["-D", "-e", "-f"]).arg(file("sshd_config"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let mut service = Self { child, port, key: file("own_key") };
        let started = until(|| match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => Some(true),
            Err(_) => service.child.try_wait().ok()?.map(|_| false),
        });
        (started == Some(true)).then_some(service)
    }

    /// The command line that logs in with a terminal and runs another there. It has no single quote in it.
    pub(crate) fn login(&self, line: &str) -> String {
        let (key, port) = (self.key.display(), self.port);
        let options =
            "-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes";
        format!("ssh -tt -F none -i {key} -p {port} {options} root@127.0.0.1 '{line}' < /dev/null")
    }
}

impl Drop for OpenSsh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

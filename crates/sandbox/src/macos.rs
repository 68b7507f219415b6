//! The profile for `sandbox-exec` of macOS. It was written after Apple's own profiles and is not tested on a Mac.

use std::fmt::Write as _;
use std::path::Path;

use crate::paths::{PathAccess, View};

/// What every program needs to start.
const BASE: &str = "(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
(allow file-read-metadata)
(allow file-read* (literal \"/\") (subpath \"/System\") (subpath \"/Library/Apple\") (subpath \"/private/var/db/dyld\"))
(allow file-read* file-write* (literal \"/dev/null\") (literal \"/dev/zero\"))
(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\"))
";

const OWN_LOOPBACK: &str = "(allow network* (local ip \"localhost:*\"))
(deny network-outbound)
";

/// Names of machines are looked up by a service of the system.
const NETWORK: &str = "(allow network*)
(allow system-socket)
(allow mach-lookup (global-name \"com.apple.dnssd.service\") (global-name \"com.apple.SystemConfiguration.configd\") (global-name \"com.apple.trustd.agent\"))
(allow file-read* (literal \"/private/var/run/resolv.conf\"))
(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))
";

/// Later rules win, and the view lists a path after the paths around it.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "used on macOS and in tests"))]
pub(crate) fn profile(view: &View, temporary: &Path, home: &Path, network: bool) -> String {
    let mut profile = format!("{BASE}{}", if network { NETWORK } else { OWN_LOOPBACK });
    for (path, access) in view.objects().chain([(temporary, PathAccess::Write), (home, PathAccess::Write)]) {
        let path = quoted(path);
        let _ = match access {
            PathAccess::Read => {
                writeln!(profile, "(allow file-read* (subpath {path}))\n(deny file-write* (subpath {path}))")
            }
            PathAccess::Write => writeln!(profile, "(allow file-read* file-write* (subpath {path}))"),
            PathAccess::Hidden => writeln!(profile, "(deny file-read* file-write* (subpath {path}))"),
        };
    }
    profile
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::VisiblePath;

    #[test]
    fn a_profile_names_what_is_read_written_and_hidden() {
        let object = |path: &str, access| VisiblePath::Object { path: path.into(), access };
        let view = View {
            paths: vec![
                object("/usr", PathAccess::Read),
                object("/w \"x\"", PathAccess::Write),
                object("/w/secret", PathAccess::Hidden),
            ],
            workspace: "/w".into(),
            home: "/h".into(),
            repositories: None,
        };
        let made = |network| profile(&view, Path::new("/s/tmp"), Path::new("/s/home"), network);
        assert!(made(true).contains("(allow network*)\n") && !made(true).contains("(deny network-outbound)"));
        let (profile, begin) = (made(false), format!("{BASE}{OWN_LOOPBACK}"));
        assert!(profile.starts_with(&begin) && BASE.contains("(deny default)"));
        let rest: Vec<_> = profile[begin.len()..].lines().collect();
        assert_eq!(
            rest,
            [
                "(allow file-read* (subpath \"/usr\"))",
                "(deny file-write* (subpath \"/usr\"))",
                "(allow file-read* file-write* (subpath \"/w \\\"x\\\"\"))",
                "(deny file-read* file-write* (subpath \"/w/secret\"))",
                "(allow file-read* file-write* (subpath \"/s/tmp\"))",
                "(allow file-read* file-write* (subpath \"/s/home\"))",
            ]
        );
    }
}

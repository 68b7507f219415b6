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
(allow network* (local ip \"localhost:*\"))
(deny network-outbound)
";

/// Later rules win, and the view lists a path after the paths around it.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "used on macOS and in tests"))]
pub(crate) fn profile(view: &View, temporary: &Path, home: &Path) -> String {
    let mut profile = BASE.to_owned();
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
        let profile = profile(&view, Path::new("/s/tmp"), Path::new("/s/home"));
        assert!(profile.starts_with(BASE) && BASE.contains("(deny default)"));
        let rest: Vec<_> = profile[BASE.len()..].lines().collect();
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

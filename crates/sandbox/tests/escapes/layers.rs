//! Which layer refuses which attempt. The table in `docs/sandbox.md` is made from this: `WRITE_DOCS=1` writes it.

use libtest_mimic::Failed;
use planwright_sandbox::{Layers, SandboxLevel};

use crate::attempts::{self, Attempt, Needs};
use crate::calls::effective_user;
use crate::stage::{Attempted, attempted};

const NONE: Layers = Layers { namespaces: false, landlock: false, seccomp: false };

/// No rights at all is what every restricted command has, beside the layers.
const COLUMNS: [(&str, Layers); 4] = [
    ("no rights", NONE),
    ("namespaces", Layers { namespaces: true, ..NONE }),
    ("Landlock", Layers { landlock: true, ..NONE }),
    ("seccomp", Layers { seccomp: true, ..NONE }),
];

const BEGIN: &str = "<!-- made by tests/escapes: begin -->\n";
const END: &str = "<!-- made by tests/escapes: end -->";

pub(crate) fn check_page() -> Result<(), Failed> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md");
    let page = std::fs::read_to_string(path)?;
    let (before, rest) = page.split_once(BEGIN).ok_or("docs/sandbox.md has no mark for the table")?;
    let (written, after) = rest.split_once(END).ok_or("docs/sandbox.md has no mark for the end of the table")?;
    if let Some(reason) = different_here() {
        println!("skipped: the table is for root on a kernel with everything; {reason}");
        return Ok(());
    }
    let mut rows = Vec::new();
    for attempt in attempts::ALL.iter() {
        rows.push(row(attempt)?);
    }
    if std::env::var_os("WRITE_DOCS").is_some() {
        let table = format!("{}{}", head(), rows.concat());
        return Ok(std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}"))?);
    }
    let missing: Vec<_> = rows.iter().filter(|row| !row.contains('?') && !written.contains(row.as_str())).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("docs/sandbox.md says otherwise: {missing:#?}").into()) }
}

/// Older kernels and other users meet other refusals.
fn different_here() -> Option<String> {
    if effective_user() != 0 {
        return Some("this is another user".to_owned());
    }
    let sandbox = planwright_sandbox::Sandbox::new(planwright_sandbox::SandboxOptions::default());
    let missing = sandbox.support().items().iter().find(|item| !item.available);
    let scoped = crate::calls::call(libc::SYS_landlock_create_ruleset, &[0, 0, 1]).is_ok_and(|version| version >= 6);
    match missing {
        Some(item) => Some(format!("{} is missing: {}", item.name, item.detail)),
        None => (!scoped).then(|| "Landlock is older than version 6".to_owned()),
    }
}

fn head() -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    format!("| attempt | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

fn row(attempt: &Attempt) -> Result<String, Failed> {
    let level = match attempt.needs {
        Needs::ReadOnlyLevel => SandboxLevel::ReadOnly,
        Needs::Nothing | Needs::Root => SandboxLevel::Workspace,
    };
    let mut cells = Vec::new();
    for (_, layers) in COLUMNS {
        let cell = match attempted(attempt, level, layers)? {
            Ok(Attempted::Refused(errno)) => error_name(errno),
            Ok(Attempted::Escaped) => "–".to_owned(),
            Ok(Attempted::Absent(_)) | Err(_) => "?".to_owned(),
        };
        cells.push(cell);
    }
    Ok(format!("| {} | {} |\n", attempt.detail, cells.join(" | ")))
}

fn error_name(errno: i32) -> String {
    let name = match errno {
        0 => "empty",
        libc::EPERM => "EPERM",
        libc::ENOENT => "ENOENT",
        libc::ESRCH => "ESRCH",
        libc::EACCES => "EACCES",
        libc::EBUSY => "EBUSY",
        libc::EXDEV => "EXDEV",
        libc::EROFS => "EROFS",
        libc::EINVAL => "EINVAL",
        libc::ENOSYS => "ENOSYS",
        libc::ENXIO => "ENXIO",
        libc::ECONNREFUSED => "ECONNREFUSED",
        _ => return format!("error {errno}"),
    };
    name.to_owned()
}

//! Takes the dashboard into the program: lists the files of `dashboard/dist` with their compressed forms. Without them, in a
//! build without Node, the list is empty and the start page says how to get the dashboard. It also names the commit of a
//! release build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = manifest.join("../../dashboard/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    name_commit(&manifest);

    // The compiler reads a copy, so that building the dashboard again does not take files away from under it.
    let copy = out.join("dashboard");
    let mut paths = Vec::new();
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    if dist.join("index.html").is_file() {
        copy_folder(&dist, &copy, &mut paths)?;
    }
    paths.sort();
    let mut list = String::from("[\n");
    for path in paths.iter().filter(|path| media_type(path).is_some()) {
        let name = path.strip_prefix(&copy).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let bytes = |path: &Path| format!("include_bytes!({:?})", path.display().to_string());
        let compressed = |suffix: &str| {
            let beside = PathBuf::from(format!("{}.{suffix}", path.display()));
            if beside.is_file() { format!("Some({})", bytes(&beside)) } else { "None".to_owned() }
        };
        let _ = writeln!(
            list,
            "    DashboardFile {{ path: {:?}, media_type: {:?}, plain: {}, brotli: {}, gzip: {} }},",
            format!("/{name}"),
            media_type(path).unwrap_or_default(),
            bytes(path),
            compressed("br"),
            compressed("gz"),
        );
    }
    list.push_str("]\n");
    fs::write(out.join("dashboard_files.rs"), list)
}

/// Who builds from an archive without git gives the commit in `PLANWRIGHT_COMMIT`, and its day in `PLANWRIGHT_COMMIT_DATE`.
fn name_commit(folder: &Path) {
    println!("cargo::rerun-if-env-changed=PLANWRIGHT_COMMIT");
    println!("cargo::rerun-if-env-changed=PLANWRIGHT_COMMIT_DATE");
    let given = || Some((env::var("PLANWRIGHT_COMMIT").ok()?, env::var("PLANWRIGHT_COMMIT_DATE").ok()?));
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match given().or_else(|| if is_release { commit_of(folder) } else { None }) {
        Some((commit, date)) => {
            println!("cargo::rustc-env=PLANWRIGHT_BUILT_COMMIT={commit}");
            println!("cargo::rustc-env=PLANWRIGHT_BUILT_DATE={date}");
            println!("cargo::rustc-env=PLANWRIGHT_DESCRIBED={version} ({commit}, {date})");
        }
        None if is_release => println!("cargo::rustc-env=PLANWRIGHT_DESCRIBED={version} (unknown commit)"),
        None => println!("cargo::rustc-env=PLANWRIGHT_DESCRIBED={version} (development build)"),
    }
}

fn commit_of(folder: &Path) -> Option<(String, String)> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(folder).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // The manifest is in this repository, and not in one that this folder was copied into.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    for name in ["HEAD", "index", "logs/HEAD"] {
        let path = folder.join(git(&["rev-parse", "--git-path", name])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let commit = git(&["describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+"])?;
    Some((commit, git(&["show", "--no-patch", "--format=%cs", "HEAD"])?))
}

fn copy_folder(from: &Path, to: &Path, copied: &mut Vec<PathBuf>) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target, copied)?;
        } else {
            fs::copy(entry.path(), &target)?;
            copied.push(target);
        }
    }
    Ok(())
}

/// `None` for what is not served by itself.
fn media_type(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_str()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => return None,
    })
}

//! Takes the dashboard into the program: lists the files of `dashboard/dist` with their compressed forms. Without them, in a
//! build without Node, the list is empty and the start page says how to get the dashboard.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = manifest.join("../../dashboard/dist");
    println!("cargo::rerun-if-changed={}", dist.display());

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

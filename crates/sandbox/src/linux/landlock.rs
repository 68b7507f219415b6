//! The Landlock rules: the second layer over the files that the namespaces leave visible.

use std::ffi::CString;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope,
};

use super::{layout, sys};
use crate::paths::{PathAccess, View};

/// The newest version of Landlock that these rules were written for. Older kernels enforce what they know of it.
const KNOWN_ABI: ABI = ABI::V6;

/// Devices that are not behind any other rule.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// A ruleset, and the rules for objects that exist only inside of the namespaces.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) ruleset: OwnedFd,
    read: u64,
    write: u64,
    list: u64,
    /// Folders of the new root that are writable.
    temporary: Vec<CString>,
}

impl Rules {
    pub(super) fn new(view: &View) -> Result<Self, String> {
        let fail = |error: &dyn std::fmt::Display| format!("the Landlock rules were refused: {error}");
        let mut created = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN_ABI))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(KNOWN_ABI)))
            .and_then(Ruleset::create)
            .map_err(|error| fail(&error))?;
        for (path, access) in view.objects() {
            let rights = match access {
                PathAccess::Read => AccessFs::from_read(KNOWN_ABI),
                PathAccess::Write => AccessFs::from_all(KNOWN_ABI),
                PathAccess::Hidden => continue,
            };
            add(&mut created, path, rights).map_err(|error| fail(&error))?;
        }
        for device in DEVICES {
            let rights = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
            add(&mut created, Path::new(device), rights).map_err(|error| fail(&error))?;
        }
        let ruleset: Option<OwnedFd> = created.into();
        let known = known_version();
        Ok(Self {
            ruleset: ruleset.ok_or_else(|| "this kernel has no Landlock".to_owned())?,
            read: AccessFs::from_read(known).bits(),
            write: AccessFs::from_all(known).bits(),
            list: BitFlags::from(AccessFs::ReadDir).bits(),
            temporary: view.temporary_folders().chain([Path::new("/dev/shm")]).map(layout::text).collect(),
        })
    }

    /// Called in the copy of the process. Adds what the new root has of its own, then restricts the process.
    pub(super) fn enforce(&self, in_namespaces: bool) -> sys::Result<()> {
        let ruleset = self.ruleset.as_fd().as_raw_fd();
        if in_namespaces {
            let own = [(c"/", self.list), (c"/proc", self.read)].into_iter();
            for (path, access) in own.chain(self.temporary.iter().map(|path| (path.as_c_str(), self.write))) {
                let object = sys::open(path, libc::O_PATH)?;
                let added = sys::landlock_allow(ruleset, object, access);
                sys::close(object);
                added?;
            }
        }
        sys::landlock_restrict(ruleset)
    }
}

/// The version that the kernel knows. The library adapts its own rules to it; raw rules have to be made for it.
fn known_version() -> ABI {
    match sys::landlock_abi() {
        Ok(1) | Err(_) => ABI::V1,
        Ok(2) => ABI::V2,
        Ok(3) => ABI::V3,
        Ok(4) => ABI::V4,
        Ok(5) => ABI::V5,
        Ok(_) => KNOWN_ABI,
    }
}

fn add(created: &mut landlock::RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), String> {
    // A path that was removed since does not exist for the command either.
    let Ok(object) = PathFd::new(path) else { return Ok(()) };
    let rights = if path.is_dir() { rights } else { rights & AccessFs::from_file(KNOWN_ABI) };
    created.add_rule(PathBeneath::new(object, rights)).map(drop).map_err(|error| error.to_string())
}

//! The file system that a folder is on: whether it is on another machine, and how much room there is.

use std::path::Path;

use planwright_store::Location;

/// Room on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) bytes: u64,
    /// How many more files can be made; `None` where their number is not limited.
    pub(crate) files: Option<u64>,
}

#[cfg(unix)]
pub(crate) fn room(folder: &Path) -> Option<Room> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let files = (disk.f_files > 0).then_some(disk.f_favail);
    Some(Room { bytes: disk.f_bavail.saturating_mul(disk.f_frsize), files })
}

#[cfg(not(unix))]
pub(crate) fn room(_: &Path) -> Option<Room> {
    None
}

/// The name of the network file system that a folder is on. SQLite's locks do not hold there, and neither does what it knows of
/// the log of other machines.
#[cfg(target_os = "linux")]
pub(crate) fn network(folder: &Path) -> Option<&'static str> {
    // A folder that is not there yet is made on the file system of the one above it.
    let folder = std::path::absolute(folder).ok()?;
    let folder = folder.ancestors().find(|folder| folder.exists())?;
    // The numbers have 32 bits; the field has more, or is signed, on some machines.
    network_name(rustix::fs::statfs(folder).ok()?.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn network(_: &Path) -> Option<&'static str> {
    None
}

/// What a person reads about a store that is a file on a network file system.
pub(crate) fn network_warning(store: &Location) -> Option<String> {
    let Location::Sqlite(file) = store else { return None };
    let name = network(file)?;
    let file = file.display();
    Some(format!(
        "{file} is on a network file system ({name}), which does not keep the locks that SQLite needs: entries can be lost or damaged"
    ))
}

pub(crate) const NETWORK_HINT: &str = "keep the store on a local disk, or use PostgreSQL for several machines";

/// From `statfs(2)` and `linux/magic.h`.
#[cfg(target_os = "linux")]
const fn network_name(kind: u32) -> Option<&'static str> {
    match kind {
        0x0000_6969 => Some("NFS"),
        0x0000_517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB 2"),
        0x0102_1997 => Some("9P"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x00c3_6400 => Some("Ceph"),
        0x7375_7245 => Some("Coda"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        0x786f_4256 => Some("VirtualBox shared folder"),
        0x1980_0202 => Some("BeeGFS"),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        for (kind, name) in [(0x6969, Some("NFS")), (0xff53_4d42, Some("CIFS")), (0xef53, None), (0x0102_1994, None)] {
            assert_eq!(network_name(kind), name, "{kind:x}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_looked_at_from_above() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(network(&folder.path().join("not/there")), network(folder.path()));
        assert!(room(folder.path()).is_some_and(|room| room.bytes > 0));
        let url = "postgres://planwright@db/planwright".parse().unwrap();
        assert_eq!(network_warning(&url), None, "a server keeps its own locks");
    }
}

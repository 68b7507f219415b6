//! The store: whether it exists, opens and answers, how much room it has, and whether its newest journals are whole.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, LedgerError, StoreFacts};
use planwright_store::{Inspection, LinkSafety, Location, Pooler};

use super::places::others_may_look;
use super::{Check, database};
use crate::commands::verify::described;
use crate::config::Settings;
use crate::config::guarded::{AcceptedServers, GuardedSettings};
use crate::failure::Failure;
use crate::file_system::{self, Room};
use crate::invocation::Invocation;
use crate::permissions::PermissionFile;
use crate::terminal::text::count;

const NAME: &str = "store";
/// How many sessions are checked; `verify` checks all of them.
const MAX_SESSIONS: u32 = 5;
const LOW_FREE_BYTES: u64 = 1 << 30;
const MIN_FREE_BYTES: u64 = 64 << 20;
/// A session and its plan need a few files.
const LOW_FREE_FILES: u64 = 10_000;
const MIN_FREE_FILES: u64 = 100;
/// How much a clock may be off without a notice.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Location::Sqlite(path) = &settings.location {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.len() == 0 => {
                return vec![Check::damaged(
                    NAME,
                    format!("{} is empty: it was cut off, or never written", path.display()),
                )];
            }
            Ok(metadata) if others_may_look(&metadata) => {
                let message = format!("{} can be read by other users of this machine", path.display());
                checks.push(Check::notice(NAME, message).hint(format!("`chmod 600 {}`", path.display())));
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message =
                    format!("{} does not exist yet; the first command that needs it makes it", path.display());
                return vec![Check::fine(NAME, message)];
            }
            Err(error) => return vec![Check::wrong(NAME, format!("{} cannot be inspected: {error}", path.display()))],
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        checks.extend(file_system::room(folder).map(disk));
    }
    if let Some(warning) = file_system::network_warning(&settings.location) {
        checks.push(Check::notice("file system", warning).hint(file_system::NETWORK_HINT));
    }
    match inside(settings, invocation).await {
        Ok(more) => checks.extend(more),
        Err(error) => checks.push(Check::failed(NAME, &Failure::from(error))),
    }
    checks
}

async fn inside(settings: &Settings, invocation: &Invocation) -> Result<Vec<Check>, LedgerError> {
    let location = &settings.location;
    let inspection = planwright_store::inspect(location).await?;
    let Inspection { schema, known, .. } = inspection;
    // Opening an older store upgrades it, and `doctor` changes nothing.
    if schema < known {
        let message = match schema {
            0 => format!("{location} has nothing in it yet"),
            _ => format!("{location} has schema {schema}, and the next command brings it to {known}"),
        };
        return Ok(vec![Check::notice(NAME, message)]);
    }
    if inspection.is_too_new {
        return Err(LedgerError::TooNew { found: schema, known });
    }
    let store = planwright_store::open_store(location).await?;
    let servers = store.beats.beats().await?.len();
    let ledger = store.ledger;
    let facts = ledger.check().await?;
    let mut checks = vec![answers(location, &inspection, &facts)];
    checks.extend(encryption(inspection.link));
    checks.extend(pooler(inspection.pooler));
    checks.extend(inspection.database.as_ref().map(database::checks).unwrap_or_default());
    checks.extend(database::sharing(servers, &settings.file_place));
    checks.push(last_written(ledger.as_ref()).await?);
    let engine = Engine::new(ledger, Policy::default());
    checks.push(stored_settings(&engine, settings).await?);
    checks.extend(without_approver(&engine, invocation).await?);
    checks.extend(changes(&engine, invocation).await?);
    checks.push(journals(engine, invocation).await?);
    Ok(checks)
}

fn answers(location: &Location, inspection: &Inspection, facts: &StoreFacts) -> Check {
    let StoreFacts { kind, schema, told_by_others } = facts;
    let message = format!("{location} reads and writes ({kind}, schema {schema})");
    match inspection.write_ahead {
        Some(false) => Check::notice(NAME, format!("{message}, but without a write-ahead log (WAL)"))
            .hint("its journal mode was changed; readers and writers block each other like this"),
        None if !told_by_others && inspection.pooler == Pooler::None => {
            Check::notice(NAME, format!("{message}; it has no LISTEN, so changes by other machines are polled"))
        }
        Some(true) | None => Check::fine(NAME, message),
    }
}

fn encryption(link: LinkSafety) -> Option<Check> {
    const NAME: &str = "encryption";
    match link {
        LinkSafety::OwnMachine => None,
        LinkSafety::Verified => {
            Some(Check::fine(NAME, "the connection to the database is encrypted, and its certificate is checked"))
        }
        LinkSafety::Unverified => Some(
            Check::notice(NAME, "the connection to the database is encrypted, but who the server is is not checked")
                .hint("add `sslmode=verify-full` and `sslrootcert=FILE` (or `sslrootcert=system`) to its URL"),
        ),
        LinkSafety::Unencrypted => Some(
            Check::notice(NAME, "the connection to the database is not encrypted, and it leaves this machine")
                .hint("switch TLS on at the server and add `sslmode=verify-full` to its URL"),
        ),
    }
}

fn pooler(pooler: Pooler) -> Option<Check> {
    const NAME: &str = "pooler";
    let message = "a connection pooler is in front of the database; statements are sent without preparing them";
    match pooler {
        Pooler::None => None,
        Pooler::WithDirectListen => Some(Check::fine(NAME, format!("{message}, changes are announced by the server"))),
        Pooler::WithoutListen => Some(
            Check::notice(NAME, format!("{message}, and changes by other processes are polled ten times a second"))
                .hint("add `listen_host=HOST&listen_port=PORT` of the server itself to the database's URL"),
        ),
    }
}

/// A disk without room for more files is as full as one without room for more bytes.
fn disk(room: Room) -> Check {
    let mebibytes = room.bytes >> 20;
    let message = match room.files {
        Some(files) => format!("{mebibytes} MiB and {files} more files are free where the store is"),
        None => format!("{mebibytes} MiB are free where the store is"),
    };
    let files = room.files.unwrap_or(u64::MAX);
    if room.bytes < MIN_FREE_BYTES || files < MIN_FREE_FILES {
        return Check::wrong("disk", message).hint("make room; a store on a full disk takes no writes");
    }
    if room.bytes < LOW_FREE_BYTES || files < LOW_FREE_FILES {
        return Check::notice("disk", message).hint("make room soon");
    }
    Check::fine("disk", message)
}

/// Something from the future was written by a clock that is wrong, there or here.
async fn last_written(ledger: &dyn Ledger) -> Result<Check, LedgerError> {
    let page = ledger.sessions(None, 1).await?;
    let newest = page.items.first().map(|stored| stored.last_active);
    Ok(match newest {
        Some(at) if at.duration_since(Timestamp::now()) > CLOCK_TOLERANCE => {
            Check::notice("time", format!("the last thing in the store was written at {at:.0}, which is in the future"))
                .hint("a clock is wrong, here or where that was written")
        }
        Some(at) => Check::fine("time", format!("the last thing in the store was written at {at:.0}")),
        None => Check::fine("time", "nothing is in the store yet"),
    })
}

/// What was changed about who may decide since a person looked last.
async fn changes(engine: &Engine, invocation: &Invocation) -> Result<Vec<Check>, LedgerError> {
    const NAME: &str = "changes";
    let unseen = engine.approvals().unseen().await?;
    let mut checks: Vec<_> = unseen.changes.iter().map(|change| Check::notice(NAME, described(change))).collect();
    if let Some(last) = checks.pop() {
        let verify = invocation.command(["verify"]);
        checks.push(
            last.hint(format!("`{verify}` at a terminal of yours shows them once more; then they count as seen")),
        );
    }
    Ok(checks)
}

/// Without an approver an agent with a shell is told from the person by comparing processes only.
async fn without_approver(engine: &Engine, invocation: &Invocation) -> Result<Option<Check>, LedgerError> {
    if !engine.approvals().state().await?.approvers.is_empty() {
        return Ok(None);
    }
    let message = "no approver is enrolled: an agent with a shell is told from you by comparing processes only";
    let hint = format!("`{}` sets a passphrase, which such an agent does not know", invocation.command(["init"]));
    Ok(Some(Check::notice("approvers", message).hint(hint)))
}

/// The settings that say who may decide are those in the store.
async fn stored_settings(engine: &Engine, settings: &Settings) -> Result<Check, LedgerError> {
    const NAME: &str = "settings";
    if engine.approvals().state().await?.settings.is_none() {
        let message =
            "the settings that say who may decide are not in the store yet; the first `planwright serve` writes them";
        return Ok(Check::notice(NAME, message));
    }
    let files = PermissionFile::new(settings.permissions.clone(), &settings.data).allowing().unwrap_or_default();
    let ignored = engine.approvals().not_in_store(&files).await?;
    if !ignored.is_empty() {
        let rules = ignored.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let message = format!("these rules allow calls, are not in the store and do not count: {rules}");
        return Ok(Check::notice(NAME, message).hint("`planwright permissions add RULE` puts one into the store"));
    }
    Ok(if settings.differences.is_empty() {
        Check::fine(NAME, "the settings that say who may decide are as the store has them")
    } else {
        Check::notice(NAME, settings.differences.join(" ")).hint("`planwright config show` lists those in force")
    })
}

/// The guarded settings of a store that can be opened without a change to it, and what people accepted of MCP servers.
pub(super) async fn guarded_settings(settings: &Settings) -> Option<(GuardedSettings, AcceptedServers)> {
    if let Location::Sqlite(path) = &settings.location {
        std::fs::metadata(path).ok().filter(|file| file.len() > 0)?;
    }
    if !planwright_store::inspect(&settings.location).await.ok()?.is_current() {
        return None;
    }
    let ledger = planwright_store::open(&settings.location).await.ok()?;
    let state = Engine::new(ledger, Policy::default()).approvals().state().await.ok()?;
    Some((state.settings?, state.accepted_tools))
}

async fn journals(engine: Engine, invocation: &Invocation) -> Result<Check, LedgerError> {
    let report = engine.verifier().verify_newest(MAX_SESSIONS).await?;
    let verify = invocation.command(["verify"]);
    if report.is_whole() {
        let message = format!("{} checked and whole; `{verify}` checks all", count(report.chains.len(), "session"));
        return Ok(Check::fine("journals", message));
    }
    let broken = report.chains.iter().find(|chain| !chain.is_whole()).map(|chain| format!("session {}", chain.session));
    let row = report.damaged.first().map(|row| row.what.clone());
    let what = broken.or(row).unwrap_or_default();
    Ok(Check::damaged("journals", format!("{what} is damaged")).hint(verify))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_disk_is_full_without_bytes_and_without_files() {
        const PLENTY: u64 = 1 << 40;
        for (bytes, files, state) in [
            (PLENTY, Some(PLENTY), State::Fine),
            (PLENTY, None, State::Fine),
            (MIN_FREE_BYTES - 1, Some(PLENTY), State::Wrong),
            (LOW_FREE_BYTES - 1, Some(PLENTY), State::Notice),
            (PLENTY, Some(0), State::Wrong),
            (PLENTY, Some(LOW_FREE_FILES - 1), State::Notice),
        ] {
            assert_eq!(disk(Room { bytes, files }).state, state, "{bytes} {files:?}");
        }
    }
}

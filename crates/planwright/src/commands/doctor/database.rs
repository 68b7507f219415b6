//! The PostgreSQL server: its connections, its standbys, open transactions, and whether several servers share the files.

use std::time::Duration;

use planwright_store::DatabaseFacts;

use super::Check;
use crate::config::FilePlace;

const NAME: &str = "database";
/// The connections that one server of Planwright holds at most.
const OWN_CONNECTIONS: u64 = 14;
/// A transaction of Planwright takes seconds at most; one that stays open keeps the database from cleaning up.
const LONG_TRANSACTION: Duration = Duration::from_secs(600);

pub(super) fn checks(facts: &DatabaseFacts) -> Vec<Check> {
    let mut checks = vec![connections(facts), replication(facts)];
    if !facts.is_flushed {
        let message =
            "the database server acknowledges what is not on its disk (`fsync` or `synchronous_commit` is off)";
        checks.push(
            Check::notice(NAME, message).hint("switch both on: a crash of the server loses what was acknowledged"),
        );
    }
    if facts.oldest_transaction >= LONG_TRANSACTION {
        let minutes = facts.oldest_transaction.as_secs() / 60;
        let message = format!("a transaction has been open for {minutes} minutes");
        checks.push(
            Check::notice(NAME, message)
                .hint("`pg_stat_activity` says whose; set `idle_in_transaction_session_timeout`"),
        );
    }
    checks
}

fn connections(facts: &DatabaseFacts) -> Check {
    let DatabaseFacts { max_connections, connections, .. } = *facts;
    let message = format!("{connections} of {max_connections} connections of the database server are used");
    if connections + OWN_CONNECTIONS > max_connections {
        let hint = format!(
            "a server of Planwright holds up to {OWN_CONNECTIONS}: raise `max_connections`, or put a pooler in front"
        );
        return Check::notice(NAME, message).hint(hint);
    }
    Check::fine(NAME, message)
}

fn replication(facts: &DatabaseFacts) -> Check {
    let DatabaseFacts { standbys, synchronous_standbys, .. } = *facts;
    match (standbys, synchronous_standbys) {
        (0, _) => Check::fine(NAME, "no standby receives what is written"),
        (_, 0) => Check::notice(NAME, "commits wait for no standby, so a failover may lose what was acknowledged")
            .hint("set `synchronous_standby_names`; docs/several-machines.md says what can be lost"),
        (_, waits) => Check::fine(NAME, format!("standbys: {standbys}; commits wait for {waits}")),
    }
}

/// Several servers count heartbeats, and each has files of its own.
pub(super) fn sharing(servers: usize, place: &FilePlace) -> Option<Check> {
    let message = format!("{servers} servers work on this database, and each keeps the files of sessions to itself");
    (servers > 1 && *place == FilePlace::Local).then(|| {
        Check::notice("files", message).hint("set `files.store`, unless they share one machine or one `users` folder")
    })
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn facts() -> DatabaseFacts {
        DatabaseFacts {
            max_connections: 100,
            connections: 20,
            standbys: 1,
            synchronous_standbys: 1,
            is_flushed: true,
            oldest_transaction: Duration::ZERO,
        }
    }

    #[track_caller]
    fn finds(facts: &DatabaseFacts, expected: &str) {
        let found: Vec<_> = checks(facts).into_iter().filter(|check| check.state != State::Fine).collect();
        match found.as_slice() {
            [] => assert_eq!(expected, ""),
            [check] => assert!(check.message.contains(expected) && !expected.is_empty(), "{}", check.message),
            _ => panic!("{} findings", found.len()),
        }
    }

    #[test]
    fn what_is_wrong_with_a_database_server_is_found() {
        finds(&facts(), "");
        finds(&DatabaseFacts { standbys: 0, synchronous_standbys: 0, ..facts() }, "");
        finds(&DatabaseFacts { connections: 88, ..facts() }, "88 of 100 connections");
        finds(&DatabaseFacts { synchronous_standbys: 0, ..facts() }, "wait for no standby");
        finds(&DatabaseFacts { is_flushed: false, ..facts() }, "not on its disk");
        finds(&DatabaseFacts { oldest_transaction: Duration::from_secs(1_200), ..facts() }, "open for 20 minutes");
    }

    #[test]
    fn several_servers_without_shared_files_are_noticed() {
        assert!(sharing(1, &FilePlace::Local).is_none());
        assert!(sharing(2, &FilePlace::Database).is_none());
        assert!(sharing(2, &FilePlace::Local).unwrap().message.starts_with("2 servers"));
    }
}

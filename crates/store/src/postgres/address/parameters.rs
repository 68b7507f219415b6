//! Every parameter that an address may have.

use std::collections::BTreeMap;

use super::AddressError;

/// What is done with a parameter.
#[derive(Debug, Clone, Copy)]
enum Handling {
    Used,
    /// It means nothing here: other programs read it, or what it chooses does not exist any more.
    Ignored,
    /// What it asks for cannot be had; the words say what to do.
    Refused(&'static str),
}

use Handling::{Ignored, Refused, Used};

/// Name, variable and handling. The names and variables are those of libpq; the last ones are Planwright's own and those that
/// managed services and other clients add.
const KNOWN: &[(&str, &str, Handling)] = &[
    ("host", "PGHOST", Used),
    ("hostaddr", "PGHOSTADDR", Used),
    ("port", "PGPORT", Used),
    ("dbname", "PGDATABASE", Used),
    ("user", "PGUSER", Used),
    ("password", "", Used),
    ("passfile", "PGPASSFILE", Used),
    ("service", "PGSERVICE", Used),
    ("servicefile", "PGSERVICEFILE", Used),
    ("sslmode", "PGSSLMODE", Used),
    ("sslnegotiation", "PGSSLNEGOTIATION", Used),
    ("sslrootcert", "PGSSLROOTCERT", Used),
    ("sslcert", "PGSSLCERT", Used),
    ("sslkey", "PGSSLKEY", Used),
    ("sslcertmode", "PGSSLCERTMODE", Used),
    ("sslcrl", "PGSSLCRL", Used),
    ("sslcrldir", "PGSSLCRLDIR", Used),
    ("sslsni", "PGSSLSNI", Used),
    ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Used),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Used),
    ("channel_binding", "PGCHANNELBINDING", Used),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", Used),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", Used),
    ("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    ("application_name", "PGAPPNAME", Used),
    ("fallback_application_name", "", Used),
    ("options", "PGOPTIONS", Used),
    ("keepalives", "", Used),
    ("keepalives_idle", "", Used),
    ("keepalives_interval", "", Used),
    ("keepalives_count", "", Used),
    ("tcp_user_timeout", "", Used),
    ("gssencmode", "PGGSSENCMODE", Used),
    ("client_encoding", "", Used),
    ("replication", "", Used),
    ("listen_host", "", Used),
    ("listen_port", "", Used),
    (
        "sslpassword",
        "",
        Refused(
            "keys with a passphrase cannot be read; take it off with `openssl pkey -in KEY -out NEW` and keep the new file readable by you alone",
        ),
    ),
    ("sslkeylogfile", "", Refused("the keys of connections are never written to a file")),
    (
        "require_auth",
        "PGREQUIREAUTH",
        Refused("ways to sign in cannot be chosen; `channel_binding=require` takes SCRAM only"),
    ),
    (
        "requirepeer",
        "PGREQUIREPEER",
        Refused(
            "the owner of a socket is not looked at; put the socket into a folder that only its owner can write to",
        ),
    ),
    ("scram_client_key", "", Refused("give the password itself")),
    ("scram_server_key", "", Refused("give the password itself")),
    (
        "oauth_issuer",
        "",
        Refused("OAuth is not spoken; give its token as the password, with the setting `database_password_command`"),
    ),
    ("schema", "", Refused("a schema is chosen with `options=-csearch_path%3DNAME`")),
    ("currentSchema", "", Refused("a schema is chosen with `options=-csearch_path%3DNAME`")),
    ("sslaccept", "", Refused("it is another program's; `sslmode=verify-full` with `sslrootcert` checks the server")),
    ("sslcompression", "PGSSLCOMPRESSION", Ignored),
    ("krbsrvname", "PGKRBSRVNAME", Ignored),
    ("gsslib", "PGGSSLIB", Ignored),
    ("gssdelegation", "PGGSSDELEGATION", Ignored),
    ("min_protocol_version", "PGMINPROTOCOLVERSION", Ignored),
    ("max_protocol_version", "PGMAXPROTOCOLVERSION", Ignored),
    ("pgbouncer", "", Ignored),
    ("connection_limit", "", Ignored),
    ("pool_timeout", "", Ignored),
    ("pool_size", "", Ignored),
    ("socket_timeout", "", Ignored),
    ("statement_cache_size", "", Ignored),
    ("statement_cache_mode", "", Ignored),
    ("prepareThreshold", "", Ignored),
    ("prepared_statements", "", Ignored),
    ("uselibpqcompat", "", Ignored),
    ("supa", "", Ignored),
];

/// Values by the name of the parameter.
#[derive(Clone, Default)]
pub(crate) struct Parameters(BTreeMap<&'static str, String>);

impl Parameters {
    pub(crate) fn get(&self, keyword: &str) -> Option<&str> {
        self.0.get(keyword).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A later value replaces an earlier one.
    pub(crate) fn set(&mut self, keyword: &str, value: String) -> Result<(), AddressError> {
        if let Some(keyword) = known(keyword)? {
            self.0.insert(keyword, value);
        }
        Ok(())
    }

    /// A parameter that may be written several times, once for each host.
    pub(crate) fn append(&mut self, keyword: &str, value: &str) -> Result<(), AddressError> {
        match known(keyword)?.and_then(|keyword| self.0.get_mut(keyword)) {
            Some(list) => {
                list.push(',');
                list.push_str(value);
                Ok(())
            }
            None => self.set(keyword, value.to_owned()),
        }
    }

    /// Takes from `others` what is not set here.
    pub(crate) fn fill_from(&mut self, others: Self) {
        for (keyword, value) in others.0 {
            if self.get(keyword).is_none() {
                self.0.insert(keyword, value);
            }
        }
    }

    /// Takes from the variables what is not set here.
    pub(crate) fn fill_from_variables<'a>(
        &mut self,
        variable: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<(), AddressError> {
        for (keyword, name, handling) in KNOWN.iter().filter(|(_, name, _)| !name.is_empty()) {
            let Some(value) = variable(name) else { continue };
            match handling {
                Used if self.get(keyword).is_none() => drop(self.0.insert(keyword, value.to_owned())),
                Used | Ignored => {}
                Refused(reason) => {
                    return Err(AddressError(format!("the variable `{name}` cannot be used: {reason}")));
                }
            }
        }
        Ok(())
    }
}

/// The name of a parameter that is used, `None` for one that means nothing here.
fn known(keyword: &str) -> Result<Option<&'static str>, AddressError> {
    let keyword = if keyword == "keepalives_retries" { "keepalives_count" } else { keyword };
    match KNOWN.iter().find(|(name, ..)| *name == keyword) {
        Some((name, _, Used)) => Ok(Some(name)),
        Some((_, _, Ignored)) => Ok(None),
        Some((name, _, Refused(reason))) => Err(AddressError(format!("`{name}` cannot be used: {reason}"))),
        None => {
            let name: String = keyword.chars().filter(char::is_ascii_graphic).take(40).collect();
            Err(AddressError(format!("there is no parameter `{name}`; leave it out")))
        }
    }
}

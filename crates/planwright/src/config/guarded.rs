//! Guarded settings: those that say who may decide, and what an agent may reach. They live in the store, so that an agent that
//! edits the configuration or sets a variable changes nothing. A new store takes them from the process that creates it.

use std::collections::BTreeMap;

use planwright_core::agents::{AgentRegistry, SpecialistOptions};
use planwright_core::approval::record::ToolsAcceptance;
use planwright_core::plan::Digest;
use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_core::visible::quoted;
use planwright_sandbox::SandboxLevel;
use planwright_upstream::UpstreamServerOptions;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use super::setting::variable_of;
use super::telegram::{TelegramSection, certificates_with_hash, certificates_without_file};

/// By their key and as a variable has them. A setting that is absent has its default.
pub(crate) type GuardedSettings = BTreeMap<String, String>;

/// The settings that live in the store. The policy (`approval.*`) lives there, too, in records of its own.
pub(crate) const GUARDED: [&str; 19] = [
    "gateway.reads",
    "gateway.result_bytes",
    "gateway.start_seconds",
    "gateway.writes",
    "hook.ask",
    ACCESS,
    "mcp.plan",
    TRUST,
    "plan.standing_approval",
    "projects.allow",
    "sandbox.env",
    "sandbox.level",
    "sandbox.read",
    "server.public_url",
    "telegram.allowed_chats",
    "telegram.allowed_users",
    "telegram.api_url",
    CERTIFICATES,
    "telegram.proxy",
];

/// A file; the store keeps its hash, too.
const CERTIFICATES: &str = "telegram.certificates";

/// The upstream servers whose annotations are believed: `NAME@CODE`, where the code names exactly the command that a person believes.
pub(crate) const TRUST: &str = "mcp.trust_annotations";

/// What programs of upstream servers may reach beside their own folders: `NAME@CODE`, where the code names exactly what the settings
/// ask for and the command that asks.
pub(crate) const ACCESS: &str = "mcp.access";

/// The digits of a code.
const CODE_DIGITS: usize = 16;

/// What identifies the bot: its id, which is the first part of its token. The token itself may be replaced.
pub(crate) const BOT: &str = "telegram.bot";

/// The hash of `telegram.webhook_secret`, which is no setting of its own.
pub(crate) const WEBHOOK: &str = "telegram.webhook_secret_sha256";

pub(crate) fn is_guarded(key: &str) -> bool {
    GUARDED.contains(&key)
}

/// What this process's file and variables say about the guarded settings.
pub(super) fn own(file: &toml::Table) -> GuardedSettings {
    let value = |key: &&str| {
        let set =
            std::env::var(variable_of(key)).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let (section, name) = key.split_once('.')?;
        let in_file = || as_variable(file.get(section)?.as_table()?.get(name)?);
        let value = set.or_else(in_file)?;
        let value = kept_value(key, &value).unwrap_or_else(|_| certificates_without_file(&value));
        Some(((*key).to_owned(), value))
    };
    GUARDED.iter().filter_map(value).collect()
}

/// The value as the store keeps it: a file has its hash.
pub(crate) fn kept_value(key: &str, value: &str) -> Result<String, String> {
    if key != CERTIFICATES {
        return Ok(value.to_owned());
    }
    certificates_with_hash(value).ok_or_else(|| format!("{} cannot be read", quoted(value)))
}

/// A value of the file as a variable has it: a list has commas between its items.
fn as_variable(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Array(items) => {
            items.iter().map(as_variable).collect::<Option<Vec<_>>>().map(|items| items.join(","))
        }
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => Some(value.to_string()),
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

/// What people accepted of each MCP server, in order.
pub(crate) type AcceptedServers = BTreeMap<String, Vec<ToolsAcceptance>>;

/// Uses the programs that people accepted, whatever `PATH` this process has.
pub(super) fn use_accepted(servers: &mut [UpstreamServerOptions], accepted: &AcceptedServers) {
    for server in servers {
        let last = accepted.get(server.name.as_str()).and_then(|accepted| accepted.last());
        if let Some(ToolsAcceptance { command, program: Some(program), .. }) = last {
            server.use_accepted(command, program);
        }
    }
}

/// The servers that this process's file trusts.
pub(super) fn trusted(servers: &[UpstreamServerOptions]) -> GuardedSettings {
    let is_trusted = |server: &&UpstreamServerOptions| server.trust == AnnotationTrust::Trusted;
    let entries: Vec<_> = servers.iter().filter(is_trusted).map(own_trust_entry).collect();
    let of_entries = |entries: Vec<String>| (TRUST.to_owned(), entries.join(","));
    Some(entries).filter(|entries| !entries.is_empty()).map(of_entries).into_iter().collect()
}

fn own_trust_entry(server: &UpstreamServerOptions) -> String {
    trust_entry(&server.name, server.command().digest)
}

/// How a person's word that they believe a server's annotations is written down.
pub(crate) fn trust_entry(server: &ServerName, command: Digest) -> String {
    format!("{server}@{}", &command.to_string()[..CODE_DIGITS])
}

/// Believes exactly the servers that the store trusts, except those that this process's file does not believe.
pub(super) fn keep_trust(servers: &mut [UpstreamServerOptions], stored: &GuardedSettings) {
    let entries: Vec<_> = items(stored.get(TRUST)).collect();
    for server in servers {
        let is_trusted = entries.contains(&own_trust_entry(server).as_str());
        server.trust = match (server.trust, is_trusted) {
            (AnnotationTrust::Trusted | AnnotationTrust::Unset, true) => AnnotationTrust::Trusted,
            (AnnotationTrust::Ignored, _) | (_, false) => AnnotationTrust::Ignored,
        };
    }
}

/// What this process's servers ask to reach.
pub(super) fn asked_access(servers: &[UpstreamServerOptions]) -> GuardedSettings {
    let entries: Vec<_> = servers.iter().filter_map(access_entry).collect();
    let of_entries = |entries: Vec<String>| (ACCESS.to_owned(), entries.join(","));
    Some(entries).filter(|entries| !entries.is_empty()).map(of_entries).into_iter().collect()
}

/// How a person's word about what a server may reach is written down. `None` if it asks for nothing.
pub(crate) fn access_entry(server: &UpstreamServerOptions) -> Option<String> {
    let code = server.asked_access()?.to_string();
    Some(format!("{}@{}", server.name, &code[..CODE_DIGITS]))
}

/// Lets exactly those servers reach more that the store has a person's word for.
pub(super) fn keep_access(servers: &mut [UpstreamServerOptions], stored: &GuardedSettings) {
    let allowed: Vec<_> = items(stored.get(ACCESS)).collect();
    for server in servers {
        let entry = access_entry(server);
        server.allow_access(entry.is_some_and(|entry| allowed.contains(&entry.as_str())));
    }
}

/// The entries of a list, with another one in the place of that of the same server.
pub(crate) fn with_entry(stored: Option<&String>, entry: &str) -> String {
    let name = entry.split('@').next().unwrap_or_default();
    let others = items(stored).filter(|other| other.split('@').next() != Some(name));
    others.chain([entry]).collect::<Vec<_>>().join(",")
}

/// Whether a value of [`ACCESS`] names servers with their codes.
pub(super) fn check_access(value: &str) -> Result<(), String> {
    let is_code = |code: &str| code.len() == CODE_DIGITS && code.chars().all(|c| c.is_ascii_hexdigit());
    match items(Some(&value.to_owned())).find(|entry| !entry.split_once('@').is_some_and(|(_, code)| is_code(code))) {
        Some(odd) => Err(format!(
            "`{odd}` is not NAME@CODE; `planwright mcp-server accept NAME --allow-access` writes the entry of a server"
        )),
        None => Ok(()),
    }
}

fn items(list: Option<&String>) -> impl Iterator<Item = &str> {
    list.into_iter().flat_map(|list| list.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

/// The bot of this process, as far as it identifies who may decide there.
pub(super) fn bot(telegram: &TelegramSection) -> GuardedSettings {
    let mut bot = GuardedSettings::new();
    if let Some(token) = telegram.bot_token() {
        let id = token.expose_secret().split(':').next().unwrap_or_default().to_owned();
        bot.insert(BOT.to_owned(), id);
    }
    if let Some(secret) = telegram.secret() {
        bot.insert(WEBHOOK.to_owned(), hex::encode(Sha256::digest(secret.expose_secret())));
    }
    bot
}

/// The value in force of a setting: the stored one, unless this process asks for a stricter one.
pub(crate) fn in_force<'a>(key: &str, stored: Option<&'a str>, own: Option<&'a str>) -> Option<&'a str> {
    match key {
        "mcp.plan" => return if own == Some("on") { own } else { stored },
        "hook.ask" => return if own == Some("inbox") { own } else { stored },
        "sandbox.level" => {}
        _ => return stored,
    }
    let level = |text: Option<&str>| text.and_then(|text| text.parse::<SandboxLevel>().ok()).unwrap_or_default();
    if own.is_some() && reach(level(own)) < reach(level(stored)) { own } else { stored }
}

/// The level that a person chose for every agent of the store.
fn stored_level(stored: &GuardedSettings) -> SandboxLevel {
    stored.get("sandbox.level").and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Whether the specialist asks for a wider level than the store's.
fn is_wider(options: &SpecialistOptions, level: SandboxLevel) -> bool {
    let own = options.sandbox.as_ref().and_then(|text| text.parse().ok());
    own.is_some_and(|own| reach(own) > reach(level))
}

/// No file or variable gives a specialist a wider level than the store's.
pub(super) fn narrow_specialists(agents: AgentRegistry, stored: &GuardedSettings) -> AgentRegistry {
    let level = stored_level(stored);
    agents.map_options(|options| {
        if is_wider(options, level) {
            options.sandbox = Some(level.name().to_owned());
        }
    })
}

/// The specialists that ask for a wider level than the store's, for people.
pub(super) fn narrowed_specialists(agents: &AgentRegistry, stored: &GuardedSettings) -> Option<String> {
    let level = stored_level(stored);
    let wider = agents.specialists().iter().filter(|specialist| is_wider(&specialist.options, level));
    let names: Vec<_> = wider.map(|specialist| specialist.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The level of the specialists {} is wider than `sandbox.level` of the store, which is `{}` and counts. `planwright config set \
             sandbox.level` changes it; `sandbox.level` of the file may be narrower for everyone else.",
            names.join(", "),
            level.name()
        )
    })
}

/// Whether the store lets commands of Planwright's own agent run without a sandbox.
pub(super) fn is_open(stored: Option<&GuardedSettings>) -> bool {
    let level = stored.and_then(|settings| settings.get("sandbox.level"));
    level.and_then(|text| text.parse::<SandboxLevel>().ok()) == Some(SandboxLevel::Open)
}

/// Whether this process's bot is another one than the store's, or sends its updates under another secret.
pub(super) fn is_other_bot(stored: &GuardedSettings, own: &GuardedSettings) -> bool {
    [BOT, WEBHOOK].iter().any(|key| own.contains_key(*key) && stored.get(*key) != own.get(*key))
}

/// A value of an earlier version that is still set, for people.
pub(super) fn earlier_values(stored: Option<&GuardedSettings>, own: &GuardedSettings) -> Vec<String> {
    const KEY: &str = "gateway.writes";
    let is_earlier =
        stored.into_iter().chain([own]).any(|settings| settings.get(KEY).is_some_and(|value| value == "approved_plan"));
    let notice = || {
        format!(
            "`{KEY}` is `approved_plan`, which means `recorded` now: calls that change things are recorded, approved and made \
             exactly as approved. `planwright config set {KEY} during_plan` has them run while an approved plan is carried out, \
             as before, and `planwright config set {KEY} recorded` ends this notice."
        )
    };
    is_earlier.then(notice).into_iter().chain(without_command(stored)).collect()
}

/// Servers that were believed whatever their command was.
fn without_command(stored: Option<&GuardedSettings>) -> Option<String> {
    let names: Vec<_> = items(stored?.get(TRUST)).filter(|entry| !entry.contains('@')).collect();
    (!names.is_empty()).then(|| {
        format!(
            "`{TRUST}` names {} without the command that is believed, as earlier versions did, which counts for nothing now. `planwright \
             mcp-server accept NAME --trust-annotations` believes a server as it is.",
            names.join(", ")
        )
    })
}

/// What this process sets differently from the store, for people. The stored values count.
pub(super) fn differences(stored: &GuardedSettings, own: &GuardedSettings) -> Vec<String> {
    let differs = |(key, value): &(&String, &String)| match key.as_str() {
        ACCESS | TRUST => items(Some(value)).any(|entry| !items(stored.get(*key)).any(|known| known == entry)),
        _ => stored.get(*key) != Some(*value),
    };
    let told = |(key, value): (&String, &String)| {
        match key.as_str() {
            ACCESS => return not_allowed(stored, value),
            TRUST => return not_believed(stored, value),
            _ => {}
        }
        let in_store = stored.get(key).map_or_else(|| "not set".to_owned(), |value| format!("`{value}`"));
        let counts = match in_force(key, stored.get(key).map(String::as_str), Some(value)) == Some(value) {
            true => "The stricter value counts for this process",
            false => "The store's value counts",
        };
        format!(
            "`{key}` is {in_store} in the store, and `{value}` here. {counts}; `planwright config set {key} {value}` changes \
             the store's."
        )
    };
    own.iter().filter(differs).map(told).collect()
}

/// The servers whose annotations a file believes and no person.
fn not_believed(stored: &GuardedSettings, own: &str) -> String {
    let own = own.to_owned();
    let names = items(Some(&own)).filter(|entry| !items(stored.get(TRUST)).any(|believed| believed == *entry));
    let names: Vec<_> = names.filter_map(|entry| entry.split('@').next()).collect();
    format!(
        "The settings of the MCP server {} believe its annotations, and no person has said so about its command as it is. `planwright \
         mcp-server accept NAME --trust-annotations` says so.",
        names.join(", ")
    )
}

/// What servers ask for and no person has allowed.
fn not_allowed(stored: &GuardedSettings, own: &str) -> String {
    let own = own.to_owned();
    let asking: Vec<_> =
        items(Some(&own)).filter(|entry| !items(stored.get(ACCESS)).any(|allowed| allowed == *entry)).collect();
    let names: Vec<_> = asking.iter().filter_map(|entry| entry.split('@').next()).collect();
    let all = asking.iter().fold(stored.get(ACCESS).cloned(), |list, entry| Some(with_entry(list.as_ref(), entry)));
    format!(
        "The settings of the MCP server {} ask for more to reach than a person has allowed, so it runs in the sandbox without that. \
         `planwright config set {ACCESS} {}` allows it.",
        names.join(", "),
        all.unwrap_or_default()
    )
}

const fn reach(level: SandboxLevel) -> u8 {
    match level {
        SandboxLevel::ReadOnly => 0,
        SandboxLevel::Workspace => 1,
        SandboxLevel::Open => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::File;
    use super::*;

    /// Settings that decide nothing: limits, how things look, where things are. A new setting is put here or into [`GUARDED`].
    /// The policy has records of its own in the store, and so have the rules of `permissions` that allow; `ask` and `deny` are
    /// free. Of the servers of `mcp` the trust in annotations and what they reach are guarded.
    const FREE_SECTIONS: [&str; 9] =
        ["approval", "auto", "chat", "limits", "memory", "notify", "planning_files", "reply", "turn"];
    const FREE: &[&str] = &[
        "agents",
        "context_tokens",
        "database",
        "database_password_command",
        "files.store",
        "mcp",
        "model",
        "permissions",
        "plan.export",
        "plan.nudges",
        "plan.on_failure",
        "plan.tools",
        "plan.turns",
        "prices",
        "projects.guard",
        "projects.id",
        "sandbox.hide",
        "sandbox.longest_timeout_seconds",
        "sandbox.memory_bytes",
        "sandbox.output_bytes",
        "sandbox.timeout_seconds",
        "server.body_bytes",
        "server.body_seconds",
        "server.burst",
        "server.connections",
        "server.connections_per_address",
        "server.grace_seconds",
        "server.header_bytes",
        "server.header_seconds",
        "server.headers",
        "server.hosts",
        "server.json_depth",
        "server.lease_seconds",
        "server.listen",
        "server.log_format",
        "server.origins",
        "server.refused_per_second",
        "server.requests_per_second",
        "server.write_seconds",
        "server.wrong_tokens_per_minute",
        "telegram.file_bytes",
        "telegram.mode",
        "telegram.token",
        "telegram.webhook_secret",
    ];

    #[test]
    fn every_setting_is_guarded_or_free() {
        for setting in File::settings() {
            let section = setting.key.split('.').next().unwrap_or_default();
            let free = FREE.contains(&setting.key.as_str()) || FREE_SECTIONS.contains(&section);
            assert!(free != is_guarded(&setting.key), "{} is not marked, or marked twice", setting.key);
        }
    }

    #[test]
    fn a_word_about_a_server_replaces_the_one_before_and_no_other() {
        let (stored, entry) = ("a@0123456789abcdef,b@1111111111111111".to_owned(), "a@ffffffffffffffff");
        assert_eq!(with_entry(Some(&stored), entry), "b@1111111111111111,a@ffffffffffffffff");
        assert_eq!(with_entry(None, entry), entry);
        assert!(check_access(&stored).is_ok() && check_access("").is_ok());
        for odd in ["a", "a@12", "a@zzzzzzzzzzzzzzzz"] {
            assert!(check_access(odd).unwrap_err().contains("NAME@CODE"), "{odd}");
        }
        let settings = |value: &str| GuardedSettings::from([(ACCESS.to_owned(), value.to_owned())]);
        assert_eq!(
            differences(&settings(&stored), &settings("b@1111111111111111")),
            [""; 0],
            "it is among the allowed"
        );
        let told = differences(&settings(&stored), &settings(entry)).remove(0);
        assert!(told.contains("config set mcp.access b@1111111111111111,a@ffffffffffffffff"), "{told}");
    }

    #[test]
    fn a_value_of_the_file_is_written_as_in_a_variable() {
        let file: toml::Table = toml::from_str(
            "[telegram]\nallowed_users = [1, 2]\n[projects]\nallow = [\"/a\", \"/b\"]\n[gateway]\nwrites = \"ask\"\nstart_seconds = 3",
        )
        .unwrap();
        let own = own(&file);
        for (key, value) in [
            ("telegram.allowed_users", "1,2"),
            ("projects.allow", "/a,/b"),
            ("gateway.writes", "ask"),
            ("gateway.start_seconds", "3"),
        ] {
            assert_eq!(own.get(key).map(String::as_str), Some(value));
        }
    }

    #[test]
    fn a_specialist_has_no_wider_level_than_the_store() {
        let asking =
            |level: &str| AgentRegistry::default().map_options(|options| options.sandbox = Some(level.to_owned()));
        let level = |agents: &AgentRegistry| agents.specialists()[0].options.sandbox.clone().unwrap();
        let stored = |level: &str| GuardedSettings::from([("sandbox.level".to_owned(), level.to_owned())]);
        for (kept, own, expected) in [
            (GuardedSettings::new(), "open", "workspace"),
            (GuardedSettings::new(), "read_only", "read_only"),
            (stored("read_only"), "workspace", "read_only"),
            (stored("open"), "open", "open"),
        ] {
            assert_eq!(level(&narrow_specialists(asking(own), &kept)), expected);
            assert_eq!(narrowed_specialists(&asking(own), &kept).is_some(), own != expected);
        }
    }

    #[test]
    fn only_a_narrower_sandbox_counts_beside_the_stored_one() {
        for (stored, own, expected) in [
            (Some("open"), Some("workspace"), Some("workspace")),
            (Some("open"), None, Some("open")),
            (None, Some("open"), None),
            (None, Some("read_only"), Some("read_only")),
        ] {
            assert_eq!(in_force("sandbox.level", stored, own), expected);
        }
        for (stored, own, expected) in [
            (Some("off"), Some("on"), Some("on")),
            (Some("on"), Some("off"), Some("on")),
            (None, Some("off"), None),
            (Some("off"), None, Some("off")),
        ] {
            assert_eq!(in_force("mcp.plan", stored, own), expected);
        }
        assert_eq!(in_force("gateway.writes", Some("ask"), Some("free")), Some("ask"));
    }
}

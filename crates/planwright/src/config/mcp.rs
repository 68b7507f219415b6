//! The section `mcp`: whether agents that come over MCP begin with plan work, and the tables `[mcp.servers.NAME]`, the upstream
//! MCP servers whose tools the agent may be given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_core::permission::ShellLine;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_core::visible::quoted;
use planwright_engine::upstream::ToolSelection;
use planwright_sandbox::SandboxLevel;
use planwright_upstream::{AskedAccess, PassedRequests, Reach, UpstreamServerOptions};
use serde::Deserialize;

use super::guarded::{self, GuardedSettings};
use super::sandbox::AbsolutePath;
use super::setting::{Check as _, Choice, Choices, Positive, Seconds, Setting, SettingValue as _, variable_of};
use super::variables::{in_file, variable};
use crate::failure::Failure;

/// The tools of one server that the model is offered, unless the settings say otherwise.
const MAX_TOOLS: usize = 128;
const START_TIME: Duration = Duration::from_secs(60);
const CALL_TIME: Duration = Duration::from_secs(120);
const VARIABLE: &str = "PLANWRIGHT_MCP";
const PLAN: &str = "mcp.plan";
/// Variables that are never given to a server.
const OWN_PREFIX: &str = "PLANWRIGHT_";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpSection {
    plan: Option<Choice<McpPlan>>,
    #[serde(default)]
    servers: BTreeMap<String, ServerTable>,
}

/// Whether plan work is on when an agent comes over MCP in a session that is new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum McpPlan {
    #[default]
    On,
    Off,
}

impl Choices for McpPlan {
    const NAMES: &'static [(&'static str, Self)] = &[("on", Self::On), ("off", Self::Off)];
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerTable {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    trust_annotations: Option<bool>,
    #[serde(default)]
    sampling: bool,
    #[serde(default)]
    elicitation: bool,
    #[serde(default)]
    roots: bool,
    sandbox: Option<String>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
    most_tools: Option<Positive<usize>>,
    start_seconds: Option<Seconds>,
    call_seconds: Option<Seconds>,
}

/// The variable has the whole section as a TOML table: `{ servers = { fs = { command = "mcp-fs" } } }`.
pub(super) fn servers(
    section: &mut McpSection,
    path: &Path,
    data: &Path,
) -> Result<Vec<UpstreamServerOptions>, Failure> {
    let parse = |text: &str| -> Result<Vec<UpstreamServerOptions>, String> {
        #[derive(Deserialize)]
        struct Named {
            mcp: McpSection,
        }
        let named: Named = toml::from_str(&format!("mcp = {text}")).map_err(|error| error.message().to_owned())?;
        if named.mcp.plan.is_some() {
            return Err(format!("`plan` has a variable of its own, {}", variable_of(PLAN)));
        }
        named.mcp.options(data).map_err(|(key, problem)| format!("{key}: {problem}"))
    };
    if let Some(servers) = variable(VARIABLE, parse)? {
        return Ok(servers);
    }
    let section = McpSection { plan: None, servers: std::mem::take(&mut section.servers) };
    section.options(data).map_err(|(key, problem)| in_file(path, &key, Refusal::invalid(problem)))
}

/// The server of `--upstream NAME=COMMAND ARGUMENTS`. `NAME:network` and `NAME:open` ask for more to reach. The words are split
/// as a shell does it, and no shell reads them.
pub(super) fn server_of_flag(text: &str, data: &Path) -> Result<UpstreamServerOptions, String> {
    let (name, command) = text
        .split_once('=')
        .ok_or_else(|| format!("`--upstream` takes NAME=COMMAND, and {} has no `=`", quoted(text)))?;
    let (name, asked) = name.split_once(':').unwrap_or((name, ""));
    let name = name.trim().parse::<ServerName>().map_err(|refusal| format!("`--upstream`: {}", refusal.message))?;
    let (sandbox, network) = match asked.trim() {
        "" => (None, false),
        "open" => (Some("open".to_owned()), false),
        "network" => (None, true),
        other => {
            return Err(format!("`--upstream {name}`: {} is neither `open` nor `network`", quoted(other)));
        }
    };
    let command = command.trim();
    let table = if command.starts_with("http://") || command.starts_with("https://") {
        ServerTable { url: Some(command.to_owned()), sandbox, network, ..ServerTable::default() }
    } else {
        let ShellLine::Words(expected) = ShellLine::parse(command) else {
            return Err(format!("`--upstream {name}`: {} is not one program with plain words", quoted(command)));
        };
        let mut expected = expected.into_iter();
        ServerTable { command: expected.next(), args: expected.collect(), sandbox, network, ..ServerTable::default() }
    };
    table.options(name, data).map_err(|problem| format!("`--upstream`: {problem}"))
}

impl McpSection {
    /// Replaces `plan` by what its variable says.
    pub(super) fn read_variables(&mut self) -> Result<(), Failure> {
        if let Some(value) = variable(&variable_of(PLAN), Choice::<McpPlan>::parse)? {
            self.plan = Some(value);
        }
        Ok(())
    }

    /// Replaces `plan` by what the store says.
    pub(super) fn keep_guarded(&mut self, stored: &GuardedSettings, own: &GuardedSettings) -> Result<(), Failure> {
        let (stored, own) = (stored.get(PLAN).map(String::as_str), own.get(PLAN).map(String::as_str));
        let text = guarded::in_force(PLAN, stored, own);
        self.plan = text
            .map(Choice::<McpPlan>::parse)
            .transpose()
            .map_err(|message| Failure::usage(format!("the setting {PLAN} of the store: {message}")))?;
        Ok(())
    }

    pub(super) fn plan(&self) -> McpPlan {
        self.plan.map(Choice::get).unwrap_or_default()
    }

    pub(super) fn settings() -> Vec<Setting> {
        vec![Setting::new(
            "mcp",
            "plan",
            Choice::<McpPlan>::kind(),
            Choice::<McpPlan>::show(&McpPlan::default()),
            "Whether plan work is on when an agent comes over MCP in a new session. `planwright mcp --plan` says otherwise for its own. In a session that exists it is as a person left it (`planwright plan on`, `planwright plan off`).",
        )]
    }

    /// An error names the key that is wrong.
    fn options(self, data: &Path) -> Result<Vec<UpstreamServerOptions>, (String, String)> {
        let options = self.servers.into_iter().map(|(name, table)| {
            let key = format!("mcp.servers.{name}");
            let parsed = name.parse::<ServerName>().map_err(|refusal| (key.clone(), refusal.message))?;
            table.options(parsed, data).map_err(|problem| (key, problem))
        });
        options.collect()
    }
}

impl ServerTable {
    fn options(self, name: ServerName, data: &Path) -> Result<UpstreamServerOptions, String> {
        let selection = ToolSelection::new(&self.tools, self.most_tools.map_or(MAX_TOOLS, Positive::get))
            .map_err(|error| format!("`tools` has a pattern that makes no sense: {error}"))?;
        let trust = match self.trust_annotations {
            Some(true) => AnnotationTrust::Trusted,
            Some(false) => AnnotationTrust::Ignored,
            None => AnnotationTrust::Unset,
        };
        let start_time = self.start_seconds.map_or(START_TIME, Seconds::get);
        let call_time = self.call_seconds.map_or(CALL_TIME, Seconds::get);
        let reach = match (self.command, self.url) {
            (Some(command), None) => {
                if !self.headers.is_empty() {
                    return Err("`headers` are for a server with a `url`".to_owned());
                }
                if command.trim().is_empty() {
                    return Err("`command` is empty".to_owned());
                }
                Reach::Program {
                    command,
                    arguments: self.args,
                    program: None,
                    environment: values("env", self.env.clone())?,
                    folder: own_folder(&name, data)?,
                    home: own_folder(&name, data)?,
                    access: AskedAccess {
                        level: level(self.sandbox.as_deref())?,
                        network: self.network,
                        readable: paths("read", &self.read)?,
                        writable: paths("write", &self.write)?,
                        starts_in: paths("cwd", self.cwd.as_slice())?.pop(),
                        variables: self.env.into_iter().collect(),
                        is_allowed: false,
                    },
                }
            }
            (None, Some(url)) => {
                let of_program = !self.args.is_empty() || !self.env.is_empty() || self.cwd.is_some();
                let limits = self.sandbox.is_some() || self.network || !self.read.is_empty() || !self.write.is_empty();
                if of_program || limits {
                    return Err(
                        "`args`, `env`, `cwd`, `sandbox`, `network`, `read` and `write` are for a server with a \
                                `command`"
                            .to_owned(),
                    );
                }
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return Err(format!("{} is not an address that begins with http:// or https://", quoted(&url)));
                }
                let written = self.headers.clone().into_iter().collect();
                Reach::Http { url, headers: values("headers", self.headers)?, written }
            }
            (Some(_), Some(_)) => return Err("it has a `command` and a `url`; it can have one of them".to_owned()),
            (None, None) => return Err("it has neither a `command` nor a `url`".to_owned()),
        };
        let passed_requests =
            PassedRequests { sampling: self.sampling, elicitation: self.elicitation, roots: self.roots };
        let mut options =
            UpstreamServerOptions { name, reach, trust, passed_requests, selection, start_time, call_time };
        options.locate();
        Ok(options)
    }
}

/// The folder of a program's own.
fn own_folder(name: &ServerName, data: &Path) -> Result<PathBuf, String> {
    let own = data.join("mcp").join(name.as_str());
    std::path::absolute(own).map_err(|error| format!("its folder has no absolute path: {error}"))
}

fn paths(key: &str, paths: &[String]) -> Result<Vec<PathBuf>, String> {
    let check = |path: &String| AbsolutePath::check(path).map_err(|problem| format!("`{key}`: {problem}"));
    paths.iter().map(check).collect()
}

fn level(sandbox: Option<&str>) -> Result<SandboxLevel, String> {
    let Some(text) = sandbox else { return Ok(SandboxLevel::default()) };
    let unknown = |_| format!("`sandbox`: {} is none of `read_only`, `workspace`, `open`", quoted(text));
    text.parse().map_err(unknown)
}

/// `${NAME}` in a value stands for a variable of this process, so that secrets need not be in the file.
fn values(key: &str, table: BTreeMap<String, String>) -> Result<Vec<(String, String)>, String> {
    let value = |(name, text): (String, String)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("`{key}`: {} is not a name", quoted(&name)));
        }
        if name.to_ascii_uppercase().starts_with(OWN_PREFIX) {
            return Err(format!(
                "`{key}`: {} is refused, because no server gets a variable of Planwright",
                quoted(&name)
            ));
        }
        let text = expand(&text).map_err(|problem| format!("`{key}.{name}`: {problem}"))?;
        Ok((name, text))
    };
    table.into_iter().map(value).collect()
}

fn expand(text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, more) = after.split_once('}').ok_or("`${` has no closing brace")?;
        if name.to_ascii_uppercase().starts_with(OWN_PREFIX) {
            return Err(format!("{} is refused, because no server gets a variable of Planwright", quoted(name)));
        }
        let value = std::env::var(name).map_err(|_| format!("the variable {} is not set", quoted(name)))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = more;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<UpstreamServerOptions>, (String, String)> {
        toml::from_str::<McpSection>(text).unwrap().options(Path::new("/data"))
    }

    #[test]
    fn a_server_is_a_command_or_an_address() {
        let servers = read(
            "[servers.fs]\ncommand = \"mcp-fs\"\nargs = [\"/srv\"]\nelicitation = true\nenv = { A_API_KEY = \"k\" }\ntrust_annotations = true\n\
             [servers.web]\nurl = \"https://example.org/mcp\"\nheaders = { Authorization = \"Bearer x\" }\ncall_seconds = 5\n",
        )
        .unwrap();
        let Reach::Program { folder, home, access, environment, .. } = &servers[0].reach else {
            panic!("{:?}", servers[0])
        };
        assert_eq!((folder.as_path(), home), (Path::new("/data/mcp/fs"), folder));
        assert!(!access.needs_person() && access.level == SandboxLevel::Workspace, "the sandbox without a network");
        assert_eq!(environment, &[("A_API_KEY".to_owned(), "k".to_owned())]);
        assert_eq!(servers[0].trust, AnnotationTrust::Trusted);
        assert_eq!(servers[0].passed_requests, PassedRequests { elicitation: true, ..PassedRequests::default() });
        assert!(matches!(&servers[1].reach, Reach::Http { headers, .. } if headers.len() == 1));
        assert_eq!((servers[1].trust, servers[1].call_time), (AnnotationTrust::Unset, Duration::from_secs(5)));
        assert!(!format!("{servers:?}").contains("Bearer x"));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (table, expected) in [
            ("[servers.Git]\ncommand = \"x\"", "a-z, 0-9 and -"),
            ("[servers.a]", "neither a `command` nor a `url`"),
            ("[servers.a]\ncommand = \"x\"\nurl = \"https://x\"", "one of them"),
            ("[servers.a]\ncommand = \" \"", "empty"),
            ("[servers.a]\nurl = \"ftp://x\"", "http://"),
            ("[servers.a]\nurl = \"https://x\"\nargs = [\"a\"]", "for a server with a `command`"),
            ("[servers.a]\ncommand = \"x\"\nheaders = { A = \"b\" }", "for a server with a `url`"),
            ("[servers.a]\ncommand = \"x\"\nsandbox = \"tight\"", "`read_only`"),
            ("[servers.a]\ncommand = \"x\"\ncwd = \"here\"", "absolute"),
            ("[servers.a]\ncommand = \"x\"\nwrite = [\"here\"]", "absolute"),
            ("[servers.a]\nurl = \"https://x\"\nnetwork = true", "for a server with a `command`"),
            ("[servers.a]\ncommand = \"x\"\nenv = { PLANWRIGHT_TOKEN = \"x\" }", "no server gets"),
            ("[servers.a]\ncommand = \"x\"\nenv = { T = \"${PLANWRIGHT_TOKEN}\" }", "no server gets"),
            ("[servers.a]\ncommand = \"x\"\nenv = { T = \"${NOT_SET_ANYWHERE}\" }", "is not set"),
            ("[servers.a]\ncommand = \"x\"\ntools = [\"[\"]", "pattern"),
        ] {
            let (key, problem) = read(table).unwrap_err();
            assert!(key.starts_with("mcp.servers.") && problem.contains(expected), "{table}: {problem}");
        }
    }

    #[test]
    fn a_flag_asks_for_the_network_or_for_no_sandbox() {
        let asked = |text: &str| {
            let server = server_of_flag(text, Path::new("/data"))?;
            let Reach::Program { access, .. } = server.reach else { panic!("{text}") };
            Ok::<_, String>((server.name.to_string(), access.level, access.network))
        };
        assert_eq!(asked("up=server x").unwrap(), ("up".to_owned(), SandboxLevel::Workspace, false));
        assert_eq!(asked("up:open=server x").unwrap(), ("up".to_owned(), SandboxLevel::Open, false));
        assert_eq!(asked("up:network = server").unwrap(), ("up".to_owned(), SandboxLevel::Workspace, true));
        assert!(asked("up:free=server").unwrap_err().contains("neither `open` nor `network`"));
    }

    /// A person's word is about one command and one reach.
    #[test]
    fn what_a_person_allows_is_named_by_command_and_reach() {
        let asked = |text: &str| read(&format!("[servers.a]\n{text}")).unwrap()[0].asked_access();
        assert_eq!(asked("command = \"x\""), None);
        assert_eq!(asked("command = \"x\"\nsandbox = \"read_only\""), None);
        let open = asked("command = \"x\"\nsandbox = \"open\"");
        assert!(open.is_some());
        assert_eq!(open, asked("command = \"x\"\nsandbox = \"open\"\ncall_seconds = 5"));
        for other in [
            "command = \"y\"\nsandbox = \"open\"",
            "command = \"x\"\nargs = [\"-v\"]\nsandbox = \"open\"",
            "command = \"x\"\ncwd = \"/b\"\nsandbox = \"open\"",
            "command = \"x\"\nnetwork = true",
            "command = \"x\"\nenv = { A = \"b\" }\nsandbox = \"open\"",
            "command = \"x\"\nread = [\"/b\"]",
            "command = \"x\"\nwrite = [\"/b\"]",
        ] {
            assert!(asked(other).is_some() && asked(other) != open, "{other}");
        }
    }

    #[test]
    fn what_a_person_accepts_is_everything_that_makes_a_server() {
        let first = |text: &str| read(&format!("[servers.a]\n{text}")).unwrap().remove(0);
        let digest = |text: &str| first(text).command().digest;
        let (url, header) = ("url = \"https://x/mcp?tenant=a\"", "headers = { Authorization = \"Bearer ${PATH}\" }");
        let of_address = digest(&format!("{url}\n{header}"));
        for other in [
            url.to_owned(),
            format!("url = \"https://x/mcp?tenant=b\"\n{header}"),
            format!("{url}\nheaders = {{ Authorization = \"Bearer ${{CARGO_PKG_NAME}}\" }}"),
            format!("{url}\nheaders = {{ Other = \"Bearer ${{PATH}}\" }}"),
        ] {
            assert_ne!(digest(&other), of_address, "{other}");
        }
        assert_eq!(digest(&format!("{url}\n{header}\ncall_seconds = 5\ntools = [\"x\"]")), of_address);
        let program = "command = \"/bin/sh\"\nenv = { A = \"${PATH}\" }";
        let mut of_program = first(program);
        let before = of_program.command();
        assert_eq!(before.program.as_ref().map(|program| program.file.as_str()), Some("/bin/sh"));
        for other in [
            "command = \"/bin/sh\"",
            "command = \"/bin/sh\"\nenv = { A = \"b\" }",
            "command = \"sh\"\nenv = { A = \"${PATH}\" }",
        ] {
            assert_ne!(digest(other), before.digest, "{other}");
        }
        // A secret that the settings only name may change.
        if let Reach::Program { environment, .. } = &mut of_program.reach {
            environment[0].1 = "rotated".to_owned();
        }
        assert_eq!(of_program.command().digest, before.digest);
    }

    #[test]
    fn an_address_is_shown_without_its_query_and_password() {
        let server = read("[servers.a]\nurl = \"https://ada:secret@x:8080/mcp?key=secret\"").unwrap().remove(0);
        assert_eq!(format!("{:?}", server.reach), "https://x:8080/mcp");
    }

    #[test]
    fn variables_are_put_into_values() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(expand("a${PATH}b").unwrap(), format!("a{path}b"));
        assert_eq!(expand("plain").unwrap(), "plain");
        assert!(expand("${PATH").is_err());
    }
}

//! Keys and base addresses, from the variables that the providers' own tools use.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use crate::choose::{ChooseError, Provider};

/// The address and the key of a provider. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    provider: Provider,
    /// Ends in `/`.
    address: String,
    is_the_providers: bool,
    key: Option<Key>,
    context_tokens: Option<u32>,
}

#[derive(Clone)]
pub(crate) struct Key(SecretString);

impl ProviderSettings {
    pub fn read(provider: Provider, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ChooseError> {
        let set =
            |variable: &str| lookup(variable).map(|value| value.trim().to_owned()).filter(|text| !text.is_empty());
        let found = |variables: &[&'static str]| variables.iter().find_map(|name| Some((*name, set(name)?)));
        let given = found(provider.address_variables());
        let is_the_providers = given.is_none();
        let address = match given {
            None => provider.default_address().to_owned(),
            Some((variable, text)) => {
                provider.address(variable, &text).ok_or(ChooseError::NotAnAddress { variable })?
            }
        };
        let key = match found(provider.key_variables()) {
            Some((variable, text)) if text.chars().any(|c| c.is_control() || !c.is_ascii()) => {
                return Err(ChooseError::UnusableKey { variable });
            }
            found => found.map(|(_, text)| Key(SecretString::from(text))),
        };
        let context_tokens = match provider {
            // The variable of the server. On another machine it is a guess that costs nothing.
            Provider::Ollama => {
                set("OLLAMA_CONTEXT_LENGTH").and_then(|text| text.parse().ok()).filter(|many| *many > 0)
            }
            Provider::OpenAi | Provider::Anthropic | Provider::Gemini => None,
        };
        Ok(Self { provider, address, is_the_providers, key, context_tokens })
    }

    /// The base address in use; it ends in `/`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is the provider's own service and not a server from a setting.
    pub fn is_the_providers(&self) -> bool {
        self.is_the_providers
    }

    /// Whether a required key is missing. Local servers that speak like OpenAI mostly take none.
    pub fn needs_a_key(&self) -> bool {
        let wanted = match self.provider {
            Provider::OpenAi => self.is_the_providers,
            Provider::Anthropic | Provider::Gemini => true,
            Provider::Ollama => false,
        };
        wanted && self.key.is_none()
    }

    pub(crate) fn provider(&self) -> Provider {
        self.provider
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    pub(crate) fn context_tokens(&self) -> Option<u32> {
        self.context_tokens
    }
}

impl Provider {
    /// The first is the one that messages name.
    const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    /// Where the key is looked for first.
    pub const fn key_variable(self) -> &'static str {
        self.key_variables()[0]
    }

    const fn address_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_BASE_URL"],
            Self::Anthropic => &["ANTHROPIC_BASE_URL"],
            Self::Gemini => &["GEMINI_BASE_URL"],
            Self::Ollama => &["OLLAMA_BASE_URL", OLLAMA_HOST],
        }
    }

    pub(crate) const fn address_variable(self) -> &'static str {
        self.address_variables()[0]
    }

    const fn default_address(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Self::Ollama => "http://localhost:11434/",
        }
    }

    /// The base address of requests, from the text of a setting.
    fn address(self, variable: &str, text: &str) -> Option<String> {
        if variable == OLLAMA_HOST && !text.contains("://") {
            return ollama_host(text);
        }
        let (base, query) = text.split_once('?').map_or((text, None), |(base, query)| (base, Some(query)));
        let (scheme, rest) = base.split_once("://")?;
        let usable = matches!(scheme, "http" | "https") && !rest.is_empty() && !rest.starts_with(['/', ':']);
        if !usable || text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#') {
            return None;
        }
        let base = base.trim_end_matches('/');
        match (self, query) {
            // Some servers want something in the query of every request.
            (Self::OpenAi, Some(query)) => Some(format!("{base}/?{query}")),
            (Self::OpenAi | Self::Ollama, None) => Some(format!("{base}/")),
            // Their own tools take the address without the version of the interface.
            (Self::Anthropic, None) => Some(with_version(base, "v1")),
            (Self::Gemini, None) => Some(with_version(base, "v1beta")),
            (Self::Anthropic | Self::Gemini | Self::Ollama, Some(_)) => None,
        }
    }
}

const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// Ollama's own variable says where the server listens: a host, a port, both, with or without a scheme.
fn ollama_host(text: &str) -> Option<String> {
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let text = text.trim_end_matches('/');
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, port),
        _ => (text, "11434"),
    };
    // A server that listens on all addresses is reached on this one.
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { host };
    Some(format!("http://{host}:{port}/"))
}

fn with_version(base: &str, version: &str) -> String {
    let last = base.rsplit('/').next().unwrap_or_default();
    let has_one = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if has_one { format!("{base}/") } else { format!("{base}/{version}/") }
}

/// An address as it may be shown: without a user, a password or a query.
pub(crate) fn without_secrets(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit('@').next().unwrap_or(host);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    path.map_or_else(|| format!("{scheme}{host}"), |path| format!("{scheme}{host}/{path}"))
}

impl Key {
    pub(crate) fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

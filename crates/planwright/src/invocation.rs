//! Commands in hints, with the options that name this store and this session.

use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;

use crate::cli::Global;

#[derive(Debug, Clone, Default)]
pub(crate) struct Invocation {
    /// The options that were typed to name the store. Variables apply to the next command, too.
    store: Vec<String>,
    /// The session, where it has to be named.
    session: Option<SessionIdentity>,
}

impl Invocation {
    pub(crate) fn new(global: &Global) -> Self {
        let data = global.data.as_ref().filter(|_| global.typed.data).map(|path| path.display().to_string());
        let config = global.config.as_ref().filter(|_| global.typed.config).map(|path| path.display().to_string());
        let database = global.database.as_deref().filter(|_| global.typed.database).map(without_password);
        let options = [("--data", data), ("--database", database), ("--config", config)];
        let store = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect();
        Self { store, session: None }
    }

    /// Commands about plans name the session from now on.
    pub(crate) fn name_session(&mut self, session: &SessionIdentity) {
        self.session = Some(session.clone());
    }

    /// The options that name the store, for commands that another program shows.
    pub(crate) fn store_options(&self) -> String {
        self.store.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// `planwright WORDS …`, each word quoted where the shell would read something else.
    pub(crate) fn command<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> String {
        render(words, self.store.iter().map(String::as_str))
    }

    /// `planwright plan WORDS …`, with the session.
    pub(crate) fn plan<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> String {
        let session = self.session.as_ref().map(ToString::to_string);
        let words: Vec<W> = words.into_iter().collect();
        let words = std::iter::once("plan").chain(words.iter().map(AsRef::as_ref));
        let named = session.iter().flat_map(|session| ["--session", session]);
        render(words, named.chain(self.store.iter().map(String::as_str)))
    }
}

/// Options come before `--`: after it everything is text.
fn render<'a, W: AsRef<str>>(words: impl IntoIterator<Item = W>, options: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (before, after) = words.split_at(end);
    let all = std::iter::once("planwright".to_owned()).chain(before.iter().cloned());
    all.chain(options.map(quoted)).chain(after.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// One word for the shell, without control characters.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(hides) {
        let escaped: String = word.chars().map(escaped).collect();
        return format!("$'{escaped}'");
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn hides(c: char) -> bool {
    c.is_control() || *visible(&c.to_string()) != *c.to_string()
}

fn escaped(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\\' | '\'' => format!("\\{c}"),
        c if hides(c) => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        c => c.to_string(),
    }
}

/// Replaces the password in an address.
fn without_password(url: &str) -> String {
    const INSTEAD: &str = "PASSWORD";
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // A password that is not encoded may have a `?` in it.
    let (place, query) = match rest.rsplit_once('?').filter(|(_, query)| query.split('&').all(is_parameter)) {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let place = match place.rsplit_once('@').map(|(login, host)| (login.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{user}:{INSTEAD}@{host}"),
        Some((None, _)) | None => place.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name @ ("password" | "sslpassword"), _)) => format!("{name}={INSTEAD}"),
            Some(_) | None => pair.to_owned(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{place}{query}")
}

fn is_parameter(pair: &str) -> bool {
    pair.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_the_shell_would_read_something_else() {
        for (word, expected) in [
            ("approve", "approve"),
            ("mcp:session-one", "mcp:session-one"),
            ("", "''"),
            ("be careful", "'be careful'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("two\nlines", r"$'two\nlines'"),
            ("\u{1b}[2J it's", r"$'\x1b[2J it\'s'"),
            ("\u{202e}", r"$'\xe2\x80\xae'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn options_stand_before_the_text() {
        let mut invocation = Invocation { store: vec!["--data".to_owned(), "my folder".to_owned()], session: None };
        assert_eq!(
            invocation.plan(["revise", "1", "--", "less"]),
            "planwright plan revise 1 --data 'my folder' -- less"
        );
        invocation.name_session(&"mcp:session-one".parse().unwrap());
        assert_eq!(
            invocation.plan(["show", "1"]),
            "planwright plan show 1 --session mcp:session-one --data 'my folder'"
        );
        assert_eq!(invocation.command(["verify"]), "planwright verify --data 'my folder'");
    }

    #[test]
    fn a_password_is_not_repeated() {
        for (url, expected) in [
            ("sqlite:a.db", "sqlite:a.db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://me:se@cret@host/db", "postgres://me:PASSWORD@host/db"),
            ("postgres://me:12345/secret@host/db", "postgres://me:PASSWORD@host/db"),
            ("postgres://me:sec?ret@host/db", "postgres://me:PASSWORD@host/db"),
            ("postgres://me:sec?ret@host/db?sslmode=require", "postgres://me:PASSWORD@host/db?sslmode=require"),
            ("postgres://host:5432/db?user=me@shop", "postgres://host:5432/db?user=me@shop"),
            ("postgres:///db?sslpassword=secret", "postgres:///db?sslpassword=PASSWORD"),
            ("postgres:///db?user=me&password=secret", "postgres:///db?user=me&password=PASSWORD"),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}

//! The browsers that are signed in, as a person sees them.
//!
//! A cookie is valid without this list: it only says which cookies were presented, by what browser and when. It is kept in a
//! file of the data folder, one line of JSON for each browser. Nothing in it signs a browser in: it has the ids of cookies
//! without their seals.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use axum::http::{HeaderMap, header};
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::cookie::{LIFE_SECONDS, now};
use crate::private_file::NewFile;

/// The file beside the one of revoked cookies.
pub(super) const FILE: &str = "browsers";
/// How long a browser is seen before the file says so, in seconds.
const WRITE_SECONDS: u64 = 60;
/// More browsers than a person signs in. The one that was not seen the longest makes room.
const MAX_BROWSERS: usize = 500;
const MAX_NAME: usize = 80;

/// A browser that presented a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SignedInBrowser {
    /// The id of its cookie.
    pub(super) cookie: String,
    /// Which token the cookie is for: a few bits that tell tokens apart and reveal nothing of them.
    pub(super) token: u16,
    /// When the cookie ends, in seconds since 1970.
    pub(super) ends: u64,
    /// In seconds since 1970.
    pub(crate) last_seen: u64,
    pub(crate) name: String,
    /// The hash of the secret that it presented as a browser that was signed in with a link. It is not checked here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

impl SignedInBrowser {
    /// Its name towards clients, which does not tell the cookie's id.
    pub(crate) fn client(&self) -> String {
        Client::id_of_cookie(&self.cookie)
    }

    /// When it signed in, in seconds since 1970.
    pub(crate) fn created(&self) -> u64 {
        self.ends.saturating_sub(LIFE_SECONDS)
    }
}

#[derive(Debug)]
pub(super) struct Browsers {
    path: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the id of the cookie.
    browsers: HashMap<String, SignedInBrowser>,
    /// The state of the file when it was last read or written.
    file: Option<(SystemTime, u64)>,
    /// When the file has to be written, in seconds since 1970.
    write_at: Option<u64>,
}

impl Known {
    fn write_by(&mut self, at: u64) {
        self.write_at = Some(self.write_at.map_or(at, |sooner| sooner.min(at)));
    }
}

impl Browsers {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        let browsers = Self { path, known: Mutex::default() };
        browsers.read();
        browsers
    }

    /// A request presented this cookie.
    pub(super) fn note(&self, cookie: &str, ends: u64, token: u16, link: Option<String>, headers: &HeaderMap) {
        let now = now();
        let mut known = self.known();
        if let Some(browser) = known.browsers.get_mut(cookie) {
            let is_later = browser.last_seen < now;
            let is_linked = link.is_some() && browser.link != link;
            browser.last_seen = now;
            if is_linked {
                browser.link = link;
            }
            if is_later || is_linked {
                known.write_by(if is_linked { now } else { now + WRITE_SECONDS });
            }
            return;
        }
        let name = name_of(headers);
        let browser = SignedInBrowser { cookie: cookie.to_owned(), token, ends, last_seen: now, name, link };
        known.browsers.insert(cookie.to_owned(), browser);
        known.write_by(now);
    }

    /// Those with a cookie for this token that has not ended, the one that was seen last first.
    pub(super) fn list(&self, token: u16, is_revoked: impl Fn(&str) -> bool) -> Vec<SignedInBrowser> {
        self.read();
        let now = now();
        let valid = |one: &&SignedInBrowser| one.token == token && now < one.ends && !is_revoked(&one.cookie);
        let mut browsers: Vec<_> = self.known().browsers.values().filter(valid).cloned().collect();
        browsers.sort_by(|one, other| (other.last_seen, &one.cookie).cmp(&(one.last_seen, &other.cookie)));
        browsers
    }

    /// Writes the file if there is something to write. Cookies of other tokens and revoked ones are forgotten.
    pub(super) fn write(&self, token: u16, is_revoked: impl Fn(&str) -> bool) {
        let now = now();
        if self.known().write_at.is_none_or(|at| now < at) {
            return;
        }
        let valid = |one: &SignedInBrowser| one.token == token && now < one.ends && !is_revoked(&one.cookie);
        if let Err(error) = self.try_write(valid) {
            tracing::warn!(event = "browsers_not_kept", %error);
            self.known().write_at = Some(now + WRITE_SECONDS);
        }
    }

    fn try_write(&self, valid: impl Fn(&SignedInBrowser) -> bool) -> io::Result<()> {
        let Some(path) = &self.path else {
            let mut known = self.known();
            known.write_at = None;
            known.browsers.retain(|_, browser| valid(browser));
            return Ok(());
        };
        // Servers that share the folder change the file one after another.
        let lock = File::options().create(true).truncate(false).write(true).open(path.with_extension("lock"))?;
        lock.lock()?;
        let found = read_file(path)?;
        let lines = {
            let mut known = self.known();
            known.write_at = None;
            found.into_iter().for_each(|browser| merge(&mut known.browsers, browser));
            known.browsers.retain(|_, browser| valid(browser));
            while known.browsers.len() > MAX_BROWSERS {
                let oldest = known.browsers.values().min_by_key(|one| one.last_seen).map(|one| one.cookie.clone());
                oldest.map(|cookie| known.browsers.remove(&cookie));
            }
            let line = |browser: &SignedInBrowser| serde_json::to_string(browser).map(|line| format!("{line}\n"));
            known.browsers.values().map(line).collect::<Result<String, _>>()?
        };
        NewFile::write(path, lines.as_bytes())?.replace(path)?;
        self.known().file = state_of(path);
        Ok(())
    }

    /// Takes in what other servers wrote.
    fn read(&self) {
        let Some(path) = &self.path else { return };
        let state = state_of(path);
        let mut known = self.known();
        if state.is_none() || known.file == state {
            return;
        }
        match read_file(path) {
            Ok(found) => {
                known.file = state;
                found.into_iter().for_each(|browser| merge(&mut known.browsers, browser));
            }
            Err(error) => tracing::warn!(event = "browsers_unreadable", %error),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of one browser, what was seen later counts.
fn merge(browsers: &mut HashMap<String, SignedInBrowser>, browser: SignedInBrowser) {
    match browsers.get(&browser.cookie) {
        Some(known) if known.last_seen >= browser.last_seen => {}
        Some(_) | None => drop(browsers.insert(browser.cookie.clone(), browser)),
    }
}

fn state_of(path: &Path) -> Option<(SystemTime, u64)> {
    fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len()))).ok()
}

/// A line of another form is skipped.
fn read_file(path: &Path) -> io::Result<Vec<SignedInBrowser>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// What a person recognises a browser by, from what it says about itself.
fn name_of(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    // Most browsers also name the ones that they are compatible with, so the order matters.
    let programs = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ];
    let systems = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let known =
        |names: &[(&str, &'static str)]| names.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name);
    match (known(&programs), known(&systems)) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(program), None) => program.to_owned(),
        (None, _) if agent.trim().is_empty() => "Unknown browser".to_owned(),
        (None, _) => agent.trim().chars().take(MAX_NAME).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_agent(agent: &str) -> HeaderMap {
        [(header::USER_AGENT, agent.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_browser_is_named_by_its_program_and_its_system() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, name) in [
            (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/141.0.0.0 Safari/537.36"), "Chrome on Linux"),
            (format!("Mozilla/5.0 (Windows NT 10.0) {webkit} Chrome/141.0 Safari/537.36 Edg/141.0"), "Edge on Windows"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 14.7; rv:144.0) Gecko/20100101 Firefox/144.0".into(),
                "Firefox on macOS",
            ),
            (
                format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) {webkit} Safari/604.1"),
                "Safari on iPhone",
            ),
            ("curl/8.5.0".into(), "curl"),
            ("My own program".into(), "My own program"),
            (String::new(), "Unknown browser"),
            ("x".repeat(200), &"x".repeat(80)),
        ] {
            assert_eq!(name_of(&user_agent(&agent)), name);
        }
    }

    #[test]
    fn browsers_are_known_to_every_server_of_the_folder_and_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = Some(folder.path().join(FILE));
        let (one, other) = (Browsers::new(path.clone()), Browsers::new(path.clone()));
        one.note("a", now() + 60, 7, None, &user_agent("curl/8"));
        other.note("b", now() + 60, 7, Some("hash".into()), &user_agent("curl/8"));
        one.note("ended", 1, 7, None, &user_agent("curl/8"));
        one.note("other token", now() + 60, 8, None, &user_agent("curl/8"));
        one.note("revoked", now() + 60, 7, None, &user_agent("curl/8"));
        let is_revoked = |cookie: &str| cookie == "revoked";
        one.write(7, is_revoked);
        other.write(7, is_revoked);
        for browsers in [one, other, Browsers::new(path)] {
            let mut cookies: Vec<_> =
                browsers.list(7, is_revoked).into_iter().map(|browser| (browser.cookie, browser.link)).collect();
            cookies.sort();
            assert_eq!(cookies, [("a".to_owned(), None), ("b".to_owned(), Some("hash".to_owned()))]);
        }
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!text.contains("revoked") && !text.contains("other token"), "{text}");
    }
}

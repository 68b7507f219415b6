//! The password for a server: from the address, from a command, from a variable, or from the user's file.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::postgres::address::hosts::ServerAddress;
use crate::postgres::address::pass_file::{self, Looked, Wanted};
use crate::postgres::address::settings::ConnectionSettings;

/// How long what a command printed is used again. Services that give out passwords by command limit them to some minutes.
const MAX_AGE: Duration = Duration::from_secs(60);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// It has no `Debug`, because it may have a secret in it.
pub(super) enum Password {
    Known(String),
    /// There is none; the reason, where there is one to tell.
    Unknown(Option<String>),
}

struct Printed {
    server: ServerAddress,
    password: String,
    at: Instant,
}

pub(super) struct Passwords {
    command: Option<String>,
    printed: Mutex<Vec<Printed>>,
}

impl Passwords {
    pub(super) fn new(command: Option<String>) -> Self {
        Self { command, printed: Mutex::default() }
    }

    pub(super) async fn for_server(&self, settings: &ConnectionSettings, server: &ServerAddress) -> Password {
        if let Some(password) = &settings.password {
            return Password::Known(password.clone());
        }
        if let Some(command) = &self.command {
            return match self.run(command, settings, server).await {
                Ok(password) => Password::Known(password),
                Err(reason) => Password::Unknown(Some(reason)),
            };
        }
        if let Some(password) = &settings.variable_password {
            return Password::Known(password.clone());
        }
        let Some(path) = &settings.pass_file else { return Password::Unknown(None) };
        let host = server.pass_file_name();
        let wanted = Wanted {
            host: &host,
            port: server.port,
            database: settings.database.as_deref().unwrap_or_default(),
            user: settings.user.as_deref().unwrap_or_default(),
        };
        match pass_file::look(path, wanted) {
            Looked::Found(password) => Password::Known(password),
            Looked::NothingFits => Password::Unknown(None),
            Looked::Unusable(reason) => Password::Unknown(Some(reason)),
        }
    }

    /// A password that the server did not take is not used again.
    pub(super) async fn forget(&self, server: &ServerAddress) {
        self.printed.lock().await.retain(|printed| printed.server != *server);
    }

    /// Callers wait for one another, so that many connections at once run the command once.
    async fn run(
        &self,
        command: &str,
        settings: &ConnectionSettings,
        server: &ServerAddress,
    ) -> Result<String, String> {
        let mut printed = self.printed.lock().await;
        printed.retain(|printed| printed.at.elapsed() < MAX_AGE);
        if let Some(found) = printed.iter().find(|printed| printed.server == *server) {
            return Ok(found.password.clone());
        }
        let password = print(command, settings, server).await?;
        printed.push(Printed { server: server.clone(), password: password.clone(), at: Instant::now() });
        Ok(password)
    }
}

/// Runs the command with the server's address in the variables of libpq. What it prints is never shown.
async fn print(command: &str, settings: &ConnectionSettings, server: &ServerAddress) -> Result<String, String> {
    let failed = |why: String| format!("the command for the password (`database_password_command`) {why}");
    let running = Command::new("sh")
        .args(["-c", command])
        .env("PGHOST", server.pass_file_name())
        .env("PGPORT", server.port.to_string())
        .env("PGUSER", settings.user.as_deref().unwrap_or_default())
        .env("PGDATABASE", settings.database.as_deref().unwrap_or_default())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = match timeout(COMMAND_TIMEOUT, running).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(failed(format!("cannot be run: {error}"))),
        Err(_) => return Err(failed("takes longer than 30 seconds".to_owned())),
    };
    if !output.status.success() {
        return Err(failed(format!("failed ({}); run it by hand to see why", output.status)));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| failed("printed something that is no text".to_owned()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(failed("printed nothing".to_owned())),
        password => Ok(password.to_owned()),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::address::environment::Environment;

    fn settings(url: &str) -> ConnectionSettings {
        ConnectionSettings::read(url, &Environment::default()).ok().unwrap()
    }

    async fn found(passwords: &Passwords, settings: &ConnectionSettings) -> Result<String, Option<String>> {
        match passwords.for_server(settings, &settings.hosts[0]).await {
            Password::Known(password) => Ok(password),
            Password::Unknown(reason) => Err(reason),
        }
    }

    #[tokio::test]
    async fn a_command_is_told_the_server_and_run_again_once_its_password_was_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let command =
            format!("echo run >> {0}; echo \"$PGUSER@$PGHOST:$PGPORT/$PGDATABASE $(wc -l < {0})\"", count.display());
        let passwords = Passwords::new(Some(command));
        let here = settings("postgres://ada@db-a:7/plans");
        for _ in 0..2 {
            assert_eq!(found(&passwords, &here).await.unwrap().replace("  ", ""), "ada@db-a:7/plans 1");
        }
        passwords.forget(&here.hosts[0]).await;
        assert_eq!(found(&passwords, &here).await.unwrap(), "ada@db-a:7/plans 2");
        let with_password = settings("postgres://ada:own@db-a:7/plans");
        assert_eq!(found(&passwords, &with_password).await.unwrap(), "own");
    }

    #[tokio::test]
    async fn a_command_that_fails_is_told_without_what_it_printed() {
        let here = settings("postgres://ada@db-a/plans");
        for (command, words) in
            [("echo s3cret; echo s3cret >&2; exit 3", "exit status: 3"), ("true", "printed nothing")]
        {
            let reason = found(&Passwords::new(Some(command.to_owned())), &here).await.unwrap_err().unwrap();
            assert!(reason.contains(words) && !reason.contains("s3cret"), "{reason}");
        }
    }

    #[tokio::test]
    async fn a_file_of_passwords_is_the_last_place() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, "db-a:5432:plans:ada:of-file\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let url = format!("postgres://ada@db-a/plans?passfile={}", path.display());
        let nothing = Passwords::new(None);
        assert_eq!(found(&nothing, &settings(&url)).await.unwrap(), "of-file");
        let variables = [("PGPASSWORD".to_owned(), "of-variable".to_owned())].into();
        let environment = Environment { variables, ..Environment::default() };
        let with_variable = ConnectionSettings::read(&url, &environment).ok().unwrap();
        assert_eq!(found(&nothing, &with_variable).await.unwrap(), "of-variable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(found(&nothing, &settings(&url)).await.unwrap_err().unwrap().contains("chmod 600"));
    }
}

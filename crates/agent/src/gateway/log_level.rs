//! The level of the logs of upstream servers. They are shared by all clients, so the most verbose level that any of them asked for
//! counts; each client gets only the lines of its own level.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use planwright_engine::upstream::UpstreamRequest;
use tokio::time::timeout;

use super::Gateway;

/// How long the client waits for a server that is told.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// As the protocol names them, the most verbose first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The most verbose level that a client asked for.
#[derive(Debug, Default)]
pub(super) struct WantedLevel(Mutex<Option<usize>>);

impl WantedLevel {
    /// Whether the servers have to be told.
    fn lower_to(&self, level: &str) -> bool {
        let Some(level) = LEVELS.iter().position(|known| *known == level) else { return false };
        let mut wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.is_some_and(|wanted| wanted <= level) {
            return false;
        }
        *wanted = Some(level);
        true
    }
}

impl Gateway {
    /// Passes on that a client wants lines of this level.
    pub async fn set_log_level(&self, level: &str) {
        if !self.log_level.lower_to(level) {
            return;
        }
        for server in self.servers().await.unwrap_or_default() {
            let request = UpstreamRequest::SetLogLevel { level: level.to_owned() };
            match timeout(ANSWER_TIME, self.request(&server, request)).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::debug!(event = "upstream_log_level_not_set", %server, %error),
                Err(_) => tracing::debug!(event = "upstream_log_level_not_answered", %server),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_verbose_level_counts() {
        let wanted = WantedLevel::default();
        let told: Vec<_> =
            ["error", "info", "warning", "info", "debug", "loud"].map(|level| wanted.lower_to(level)).into();
        assert_eq!(told, [true, true, false, false, true, false]);
    }
}

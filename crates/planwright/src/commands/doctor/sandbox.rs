//! What this system can enforce for the agent's commands.

use planwright_sandbox::SandboxLevel;

use super::Check;
use crate::config::Settings;
use crate::sandbox;

const NAME: &str = "sandbox";

pub(super) fn look(settings: &Settings) -> Check {
    let sandbox = sandbox::of(settings);
    let support = sandbox.support();
    let level = settings.sandbox.level;
    if let Some(reason) = support.refusal(level) {
        let message = format!("commands are refused: this system cannot enforce the level {level}; {reason}");
        return Check::notice(NAME, message).hint(
            "docs/sandbox.md says what the kernel must offer; PLANWRIGHT_SANDBOX_LEVEL=open runs commands without limits",
        );
    }
    if level == SandboxLevel::Open {
        return Check::notice(NAME, "the level is open: commands may do everything that you may")
            .hint("PLANWRIGHT_SANDBOX_LEVEL=workspace limits them");
    }
    let missing: Vec<_> = support
        .items()
        .iter()
        .filter(|item| !item.available)
        .map(|item| format!("{} is missing ({})", item.name, item.detail))
        .collect();
    if missing.is_empty() {
        return Check::fine(NAME, format!("level {level}, enforced by the kernel"));
    }
    Check::notice(NAME, format!("level {level}, enforced by the kernel without a second layer: {}", missing.join("; ")))
}

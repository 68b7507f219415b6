//! The sandbox of the agent's commands, as the settings describe it.

use planwright_agent::toolbox::command::CommandOptions;
use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use planwright_store::Location;

use crate::config::{FilePlace, SandboxSettings, Settings};
use crate::token;

pub(crate) fn of(settings: &Settings) -> Sandbox {
    let mut hidden = vec![settings.data.clone(), settings.file.clone(), token::path(settings)];
    if let Location::Sqlite(store) = &settings.location {
        let beside = |suffix: &str| {
            let mut path = store.clone().into_os_string();
            path.push(suffix);
            path.into()
        };
        hidden.extend(["", "-wal", "-shm"].map(beside));
    }
    if let FilePlace::Folder(folder) = &settings.file_place {
        hidden.push(folder.clone());
    }
    let SandboxSettings { readable, hidden: further, passed_variables, .. } = settings.sandbox.clone();
    hidden.extend(further);
    Sandbox::new(SandboxOptions {
        home: dirs::home_dir(),
        readable,
        hidden,
        passed_variables,
        ..SandboxOptions::default()
    })
}

/// `room` is how much of an output the model can read.
pub(crate) fn command_options(settings: &SandboxSettings, room: usize) -> CommandOptions {
    CommandOptions {
        level: settings.level,
        environment: settings.environment.clone(),
        timeout: settings.timeout,
        longest_timeout: settings.longest_timeout,
        output_bytes: settings.output_bytes.min(room),
        memory: settings.memory,
        ..CommandOptions::default()
    }
}

/// What a person should know before the agent runs commands. `None` if the kernel enforces the level.
pub(crate) fn warning(sandbox: &Sandbox, level: SandboxLevel) -> Option<String> {
    if level == SandboxLevel::Open {
        return Some("sandbox level open: the agent's commands may do everything that you may".to_owned());
    }
    let reason = sandbox.support().refusal(level)?;
    Some(format!(
        "this system cannot enforce the sandbox level {level}, so the agent's commands are refused: {reason}; \
         `planwright doctor` says more"
    ))
}

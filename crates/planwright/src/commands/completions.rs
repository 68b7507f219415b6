//! `planwright completions`

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::Shell;
use planwright_core::refusal::Refusal;
use serde_json::json;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::{ExitResult, Failure};
use crate::output_file;
use crate::terminal::screen::Screen;

pub(crate) fn run(screen: &Screen, arguments: &CompletionsArgs) -> ExitResult {
    let script = script(arguments.shell)?;
    if !arguments.install {
        return screen.answer(|| json!({ "script": script }), || script.clone());
    }
    let path = installed_at(arguments.shell)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    output_file::replace(&path, script.as_bytes())?;
    let shown = path.display().to_string();
    let describe = || match arguments.shell {
        Shell::Zsh => format!(
            "{shown} is written. Put its folder into `fpath` before `compinit` in ~/.zshrc, and open a new terminal.\n"
        ),
        _ => format!("{shown} is written. It counts in terminals that you open from now on.\n"),
    };
    screen.answer(|| json!({ "path": shown }), describe)
}

fn script(shell: Shell) -> Result<String, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "planwright", &mut script);
    String::from_utf8(script).map_err(|error| Failure::unexpected(error.to_string()))
}

/// Where the shell looks for the completions of a user.
fn installed_at(shell: Shell) -> Result<PathBuf, Failure> {
    let found = match shell {
        Shell::Bash => dirs::data_dir().map(|data| data.join("bash-completion/completions/planwright")),
        Shell::Zsh => dirs::data_dir().map(|data| data.join("zsh/site-functions/_planwright")),
        Shell::Fish => dirs::config_dir().map(|config| config.join("fish/completions/planwright.fish")),
        _ => {
            let refusal = Refusal::invalid(format!("{shell} has no folder for completions of its user."));
            return Err(Failure::from(refusal)
                .hint(format!("add the output of `planwright completions {shell}` to its profile")));
        }
    };
    found.ok_or_else(|| Failure::unavailable("This user has no home folder.".to_owned()))
}

//! `planwright token`

use planwright_core::refusal::Refusal;
use planwright_surfaces::http::{LoadedToken, Token, TokenError};
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::cli::{Global, TokenArgs, TokenCommand};
use crate::config::Settings;
use crate::context::make_folder;
use crate::failure::{ExitResult, Failure};
use crate::terminal::screen::Screen;
use crate::token;

pub(crate) fn run(global: &Global, arguments: &TokenArgs) -> ExitResult {
    let settings = Settings::read(global)?;
    let screen = Screen::new(global.json);
    let path = token::path(&settings);
    let command = arguments.command.unwrap_or(TokenCommand::Show);
    if let Token::Given(_) = token::of(&settings) {
        return Err(given(command));
    }
    let token = Token::File(path.clone());
    let shown = path.display().to_string();
    match command {
        TokenCommand::Path => screen.answer(|| json!({ "path": shown }), || format!("{shown}\n")),
        TokenCommand::Show => {
            make_folder(&settings.data)?;
            let (LoadedToken::Made(secret) | LoadedToken::Found(secret)) = token.make_if_missing().map_err(failed)?;
            let secret = secret.expose_secret();
            screen.answer(|| json!({ "token": secret, "path": shown }), || format!("{secret}\n"))
        }
        TokenCommand::Rotate => {
            make_folder(&settings.data)?;
            let secret = token.rotate().map_err(failed)?;
            let secret = secret.expose_secret();
            let describe = || {
                format!(
                    "{secret}\nOnly this token is valid from now on. Servers that use this folder close open connections, and \
                     browsers have to sign in again.\n"
                )
            };
            screen.answer(|| json!({ "token": secret, "path": shown }), describe)
        }
    }
}

fn given(command: TokenCommand) -> Failure {
    let what = match command {
        TokenCommand::Show => "it is not shown",
        TokenCommand::Rotate => "it cannot be replaced here",
        TokenCommand::Path => "there is no file",
    };
    let message = format!("The token is given by PLANWRIGHT_TOKEN, so {what}.");
    Failure::from(Refusal::wrong_status(message))
        .hint("change the variable where it is set, and start the server again")
}

pub(crate) fn failed(error: TokenError) -> Failure {
    Failure::unavailable(error.to_string())
}

//! `planwright man`: the manual pages, made from the arguments that the program takes.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use planwright_surfaces::build_info;
use serde_json::json;

use crate::cli::{Cli, ManArgs};
use crate::failure::ExitResult;
use crate::output_file;
use crate::terminal::screen::Screen;

pub(crate) fn run(screen: &Screen, arguments: &ManArgs) -> ExitResult {
    fs::create_dir_all(&arguments.folder)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    write(&program, &arguments.folder, &mut pages)?;
    let folder = arguments.folder.display().to_string();
    screen.answer(
        || json!({ "folder": folder, "pages": pages }),
        || format!("{} pages are in {folder}. Read one: man {folder}/planwright.1\n", pages.len()),
    )
}

/// Writes the page of this command and those of the commands below it.
fn write(command: &Command, folder: &Path, pages: &mut Vec<String>) -> io::Result<()> {
    let page = Man::new(command.clone())
        .date(build_info::COMMIT_DATE.unwrap_or_default())
        .source(format!("planwright {}", build_info::VERSION))
        .manual("Planwright");
    let (name, mut text) = (page.get_filename(), Vec::new());
    page.render(&mut text)?;
    output_file::replace(&folder.join(&name), &text)?;
    pages.push(name);
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write(below, folder, pages)?;
    }
    Ok(())
}

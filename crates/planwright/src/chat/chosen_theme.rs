//! The theme that a person chose with `/theme`. Later chats draw with it, too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::terminal::theme::Theme;

const FILE: &str = "chat_theme";

#[derive(Debug, Clone)]
pub(crate) struct ChosenTheme {
    path: PathBuf,
}

impl ChosenTheme {
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join(FILE) }
    }

    /// Draws with it from now on. A file that cannot be read counts as none.
    pub(crate) fn apply(&self) {
        let name = fs::read_to_string(&self.path).unwrap_or_default();
        Theme::named(name.trim()).unwrap_or_default().choose();
    }

    pub(super) fn remember(&self, theme: Theme) -> Result<(), Failure> {
        theme.choose();
        fs::write(&self.path, format!("{}\n", theme.name()))
            .map_err(|error| Failure::unavailable(format!("{} cannot be written: {error}", self.path.display())))
    }
}

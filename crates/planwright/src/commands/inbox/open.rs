//! `inbox open`: the page of the dashboard on which something is decided.

use std::process::{Command, Stdio};

use serde_json::json;

use super::items::InboxItem;
use crate::context::Context;
use crate::failure::{Exit, ExitResult};

pub(super) fn run(context: &Context, item: &InboxItem, print: bool) -> ExitResult {
    let address = format!("{}{}", context.dashboard, path(item));
    let opened = !print && context.screen.interactive && open(&address);
    context.screen.answer(|| json!({ "url": address }), || format!("{address}\n"))?;
    if !opened && context.screen.interactive && !print {
        context.screen.print("Open it in a browser. `planwright serve` serves the dashboard.\n")?;
    }
    Ok(Exit::Done)
}

fn path(item: &InboxItem) -> String {
    match item {
        InboxItem::Plan(waiting) => format!("/p/{}", waiting.plan.id),
        InboxItem::Ask(waiting) => format!("/?item={}", waiting.ask.id),
        InboxItem::Run(waiting) => format!("/?item={}", waiting.run.id()),
    }
}

/// Whether the desktop took the address.
fn open(address: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

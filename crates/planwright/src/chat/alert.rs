//! Tells a person who looks elsewhere that the agent is done or asks something.

use std::io::{self, Write as _};

use crate::config::ChatAlert;
use crate::failure::Failure;

const BELL: &str = "\u{7}";
/// OSC 9; terminals that do not know it show nothing.
const NOTIFICATION: &str = "\u{1b}]9;Planwright waits for you\u{7}";

pub(super) fn tell(alert: ChatAlert) -> Result<(), Failure> {
    let sequence = match alert {
        ChatAlert::Bell => BELL,
        ChatAlert::Notification => NOTIFICATION,
        ChatAlert::None => return Ok(()),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(sequence.as_bytes())?;
    Ok(stdout.flush()?)
}

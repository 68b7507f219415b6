//! What a client's model reads about this server before its first call.

use planwright_core::mode::PlanModeState;
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;

/// `mode` is `None` when it could not be read.
pub(super) fn text(session: &SessionIdentity, mode: Option<&PlanModeState>) -> String {
    let work = match mode {
        None => include_str!("instructions/unknown.md"),
        Some(mode) if !mode.enabled => include_str!("instructions/off.md"),
        Some(mode) => match mode.style {
            PlanStyle::Document => include_str!("instructions/document.md"),
            PlanStyle::Collect => include_str!("instructions/collect.md"),
            PlanStyle::Build => include_str!("instructions/build.md"),
        },
    };
    include_str!("instructions/frame.md")
        .trim_end()
        .replace("{work}", work.trim_end())
        .replace("{session}", &session.to_string())
}

//! What a client's model reads about this server before its first call: short, and fit for the style of plan work.

use planwright_core::mode::PlanModeState;
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;

use super::PersonCommands;

/// `has_rounds` says whether calls of upstream tools that change things are recorded in rounds beside the plan.
pub(super) fn text(
    session: &SessionIdentity,
    mode: &PlanModeState,
    has_rounds: bool,
    commands: &PersonCommands,
) -> String {
    let (frame, work) = match (mode.enabled, mode.style) {
        (false, _) => (include_str!("instructions/off_frame.md"), include_str!("instructions/off.md")),
        (true, PlanStyle::Document) => (FRAME, include_str!("instructions/document.md")),
        (true, PlanStyle::Collect) => (FRAME, include_str!("instructions/collect.md")),
        (true, PlanStyle::Build) => (FRAME, include_str!("instructions/build.md")),
    };
    let mut work = work.trim_end().to_owned();
    if has_rounds && mode.enabled && mode.style != PlanStyle::Collect {
        work.push_str("\n\n");
        work.push_str(include_str!("instructions/rounds.md").trim_end());
    }
    let place = match &commands.dashboard {
        Some(address) => format!("at {address} or in a terminal"),
        None => "in a terminal".to_owned(),
    };
    frame
        .trim_end()
        .replace("{work}", &work)
        .replace("{where}", &place)
        .replace("{show}", &commands.plan("show", session))
        .replace("{approve}", &commands.plan("approve", session))
        .replace("{on}", &commands.plan("on", session))
        .replace("{session}", &session.to_string())
}

/// For a server that cannot work.
pub(super) fn failed(error: &str) -> String {
    include_str!("instructions/failed.md").trim_end().replace("{error}", error)
}

const FRAME: &str = include_str!("instructions/frame.md");

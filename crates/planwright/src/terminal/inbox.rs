//! What waits for a person, as text.

use planwright_core::call_text::call_blocks;
use planwright_surfaces::wire::{ChoiceView, WaitingKind, WaitingView};

use super::palette::{BOLD, DIM, ERROR, GOOD, PLAIN};
use super::text::{Span, paint, painted, short_id, shown, shown_line, wrap};
use super::time;
use crate::invocation::Invocation;

/// One block for each: what it is, where and since when, its id, and what can be decided.
pub(crate) fn list(items: &[WaitingView], invocation: &Invocation, width: usize) -> String {
    if items.is_empty() {
        let wait = invocation.command(["inbox", "--wait"]);
        return format!("Nothing waits for you. `{wait}` waits until something does.\n");
    }
    let mut text = String::new();
    for item in items {
        let plan = item.number.map_or_else(String::new, |number| format!("plan {number}, "));
        text.push_str(&spans(
            &[Span::new(&format!("{:<11}", kind(item.kind)), BOLD), Span::plain(&shown_line(&item.title))],
            width,
        ));
        // A change of tools concerns all sessions.
        let place = match &item.tool_change {
            Some(_) => "all sessions".to_owned(),
            None => format!("{}:{}", item.channel, item.session_id),
        };
        text.push_str(&indented(&format!("{plan}{place}, {}{}", time::ago(item.since), about_step(item)), width));
        if let Some(approvals) = &item.approved_by_some {
            text.push_str(&indented(&shown_line(approvals), width));
        }
        text.push_str(&indented(&format!("{}  {}", name(item), item.choices.join(", ")), width));
    }
    let (show, answer) = (invocation.command(["inbox", "show"]), invocation.command(["inbox", "answer"]));
    text.push_str(&format!("{}\n", paint(&format!("To look at one: {show}. To decide: {answer}"), DIM)));
    text
}

/// With numbers to choose by.
pub(crate) fn numbered(items: &[WaitingView], width: usize) -> String {
    let line = |(number, item): (usize, &WaitingView)| {
        spans(&[Span::new(&format!("{number:>3}  "), DIM), Span::plain(&one_line(item))], width)
    };
    (1..).zip(items).map(line).collect()
}

/// `plan: Move the tables (mcp:session-one, 3f2a91c0)`
pub(crate) fn one_line(item: &WaitingView) -> String {
    let place = format!("{}:{}", item.channel, item.session_id);
    format!("{}: {} ({place}, {})", kind(item.kind).trim(), shown_line(&item.title), name(item))
}

fn name(item: &WaitingView) -> &str {
    let id = item.id.as_str();
    if item.kind == WaitingKind::ToolChange { id } else { short_id(id) }
}

/// What an agent asks, exactly: the call, or the questions.
pub(crate) fn asked(item: &WaitingView, width: usize) -> String {
    let mut text = String::new();
    if let Some(call) = &item.call {
        text.push_str(&spans(
            &[Span::plain("The agent asks to call "), Span::new(&shown_line(&call.tool), BOLD), Span::plain(":")],
            width,
        ));
        // The text is not wrapped: it is what runs.
        for block in call_blocks(&call.tool, &call.arguments) {
            let style = |line: &str| match (block.language, line.chars().next()) {
                ("diff", Some('+')) => GOOD,
                ("diff", Some('-')) => ERROR,
                _ => PLAIN,
            };
            let lines = shown(&block.text);
            text.extend(lines.lines().map(|line| format!("    {}\n", paint(line, style(line)))));
        }
        text.push_str(&spans(&[Span::new(&shown_line(&call.reason), DIM)], width));
        if let Some(always) = &call.always {
            text.push_str(&spans(&[Span::new(&shown_line(always), DIM)], width));
        }
        text.push_str(&spans(&[Span::new(&format!("digest {}", item.digest), DIM)], width));
    }
    if let Some(change) = &item.tool_change {
        // Hidden characters are written out in it already.
        text.extend(change.difference.lines().map(|line| format!("    {}\n", paint(line, PLAIN))));
    }
    if let Some(run) = &item.run {
        let spent = format!("{} turns, {} tokens, {:.0} seconds", run.spent.turns, run.spent.tokens, run.spent.seconds);
        text.push_str(&spans(&[Span::plain(&shown_line(&item.title))], width));
        text.push_str(&indented(&spent, width));
    }
    for (number, question) in (1..).zip(item.questions.iter().flatten()) {
        text.push_str(&spans(&[Span::plain(&format!("{number}. {}", shown_line(&question.text)))], width));
        for (number, choice) in (1..).zip(&question.choices) {
            text.push_str(&indented(&format!("{number}) {}", shown_line(choice)), width));
        }
        if question.many {
            text.push_str(&indented("several can be taken: 1, 3", width));
        }
    }
    text
}

/// The commands that decide about it.
pub(crate) fn choices(item: &WaitingView, invocation: &Invocation, width: usize) -> String {
    let id = name(item);
    let line = |answer: &[&str], what: &str| {
        let command = invocation.command(["inbox", "answer", id].iter().chain(answer));
        format!("{}{}", spans(&[Span::new(what, DIM)], width), indented(&command, width))
    };
    let lines: Vec<String> = match item.kind {
        WaitingKind::Question => vec![line(&["ANSWER"], "To answer, in words or with the number of a choice:")],
        WaitingKind::ToolChange => {
            let server = item.tool_change.as_ref().map_or(id, |change| change.server.as_str());
            let command = invocation.command(["mcp-server", "accept", server]);
            vec![format!(
                "{}{}",
                spans(&[Span::new("To look at them and accept them:", DIM)], width),
                indented(&command, width)
            )]
        }
        WaitingKind::Plan
        | WaitingKind::Permission
        | WaitingKind::Step
        | WaitingKind::Uncertain
        | WaitingKind::Failed
        | WaitingKind::Refused
        | WaitingKind::Run
        | WaitingKind::Budget => {
            let of_choice = |choice: &ChoiceView| {
                let words: &[&str] = match choice.name.as_str() {
                    "revise" => &["revise", "--", "WORDS"],
                    "no" => &["no", "--", "WHY"],
                    name => &[name],
                };
                line(words, &format!("{}:", choice.label))
            };
            item.actions.iter().map(of_choice).collect()
        }
    };
    lines.concat()
}

fn about_step(item: &WaitingView) -> String {
    let Some(step) = &item.step else { return String::new() };
    let status = step.status.map_or_else(String::new, |status| format!(" is {}", status.as_str()));
    format!(": step {}{status}, {}", step.position, shown_line(&step.description))
}

const fn kind(kind: WaitingKind) -> &'static str {
    match kind {
        WaitingKind::Plan => "plan",
        WaitingKind::Permission => "permission",
        WaitingKind::Question => "question",
        WaitingKind::Step => "step",
        WaitingKind::Uncertain => "uncertain",
        WaitingKind::Failed => "failed",
        WaitingKind::Refused => "refused",
        WaitingKind::Run => "run",
        WaitingKind::Budget => "budget",
        WaitingKind::ToolChange => "tool_change",
    }
}

fn spans(line: &[Span], width: usize) -> String {
    wrap(line, width).iter().map(|line| format!("{}\n", painted(line))).collect()
}

fn indented(text: &str, width: usize) -> String {
    const BY: usize = 11;
    let lines = wrap(&[Span::new(text, DIM)], width.saturating_sub(BY));
    lines.iter().map(|line| format!("{}{}\n", " ".repeat(BY), painted(line))).collect()
}

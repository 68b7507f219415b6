//! `planwright verify`

use std::path::Path;

use planwright_core::approval::changes::{RecordedChange, Unseen};
use planwright_engine::approvals::ExportedKey;
use planwright_engine::ledger::LedgerError;
use planwright_engine::verifier::{ChainReport, VerifyReport};
use planwright_engine::{recognition, who};
use serde_json::{Value, json};

use super::ProgressLine;
use super::shared_files::check_all;
use crate::commands::plan::damaged;
use crate::context::{Context, read_file};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{BOLD, ERROR, GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};
use crate::terminal::time;

pub(crate) async fn run(context: &Context, approvers: Option<&Path>) -> ExitResult {
    let mut progress_line = ProgressLine::new(&context.screen);
    let mut sessions = 0_u64;
    let mut entries = 0_u64;
    let report = context
        .engine
        .verifier()
        .verify_all(|chain| {
            sessions += 1;
            entries += chain.entries;
            progress_line.show(&format!("sessions: {sessions}, entries: {entries}"));
        })
        .await;
    progress_line.clear();
    let mut report = report?;
    let kept = approvers.map(read_keys).transpose()?;
    let approvals = context.engine.approvals();
    report.damaged.extend(approvals.audit(kept.as_deref()).await?);
    report.damaged.extend(check_all(context).await?);
    // Records that are damaged say nothing for sure.
    let unseen = if report.is_whole() { approvals.unseen().await? } else { Unseen::default() };
    context
        .screen
        .answer(|| view(&report, &unseen), || format!("{}{}", describe(&report), describe_unseen(&unseen)))?;
    if !unseen.changes.is_empty() {
        // An agent that looks leaves them for the person.
        match approvals.see_changes(&context.person, &unseen).await {
            Ok(()) | Err(LedgerError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(if report.is_whole() { Exit::Done } else { Exit::Damaged })
}

/// The keys that were written by `approver export`.
fn read_keys(path: &Path) -> Result<Vec<ExportedKey>, Failure> {
    #[derive(serde::Deserialize)]
    struct Exported {
        approvers: Vec<ExportedKey>,
    }
    let text = read_file(&path.to_owned())?;
    let exported: Exported = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{} is not a list of approvers: {error}", path.display())))?;
    Ok(exported.approvers)
}

fn view(report: &VerifyReport, unseen: &Unseen) -> Value {
    let chains: Vec<_> = report
        .chains
        .iter()
        .map(|chain| {
            json!({
                "sessionId": chain.session.conversation,
                "channel": chain.session.channel,
                "entries": chain.entries,
                "whole": chain.is_whole(),
                "damage": chain.damage,
                "disagreements": damaged::view(&chain.disagreements),
            })
        })
        .collect();
    json!({
        "whole": report.is_whole(),
        "checked": report.checked,
        "total": report.total,
        "sessions": chains,
        "damaged": damaged::view(&report.damaged),
        "changes": unseen.changes.iter().map(change_view).collect::<Vec<_>>(),
    })
}

fn change_view(change: &RecordedChange) -> Value {
    json!({
        "at": change.at,
        "by": change.by,
        "what": change.what.to_string(),
        "weakens": change.what.is_weakening(),
    })
}

/// What was changed about who may decide, with who did it and from where.
fn describe_unseen(unseen: &Unseen) -> String {
    if unseen.changes.is_empty() {
        return String::new();
    }
    let since = unseen.since.map_or_else(|| "the store was made".to_owned(), time::absolute);
    let mut text = format!("{}\n", paint(&format!("Changed about who may decide since {since}:"), WARNING));
    for change in &unseen.changes {
        text.push_str(&format!("  {}\n", shown_line(&described(change))));
    }
    text
}

/// `2026-03-01 12:00: ada was enrolled as an approver (by ada through cli, at a terminal, not verified)`
pub(crate) fn described(change: &RecordedChange) -> String {
    let RecordedChange { at, by, what, .. } = change;
    format!("{}: {what} (by {}, {})", time::absolute(*at), who(by), recognition(by))
}

fn describe(report: &VerifyReport) -> String {
    let mut text = String::new();
    for chain in report.chains.iter().filter(|chain| !chain.is_whole()) {
        text.push_str(&broken(chain));
    }
    text.push_str(&damaged::describe(&report.damaged));
    let entries: u64 = report.chains.iter().map(|chain| chain.entries).sum();
    let whole = report.chains.iter().filter(|chain| chain.is_whole()).count();
    let VerifyReport { checked, total, .. } = report;
    // Sessions that are opened during the check are counted in addition to those that existed before.
    let of_all = format!("{checked} of {}", count((*total).max(*checked), "session"));
    if report.is_whole() {
        let message = format!("Every journal is whole: {of_all} checked, {}.", count(entries, "entry"));
        text.push_str(&paint(&message, GOOD));
    } else {
        if !report.is_complete() {
            let message = "Some sessions were not checked, because others were opened and deleted meanwhile.";
            text.push_str(&format!("{} {message} Run it again.\n", paint("incomplete:", ERROR)));
        }
        text.push_str(&format!("{of_all} checked, {whole} whole. Nothing was changed."));
    }
    text.push('\n');
    text
}

fn broken(chain: &ChainReport) -> String {
    let mut text = format!("{} {}\n", paint("damaged:", ERROR), paint(&chain.session.to_string(), BOLD));
    if let Some(damage) = &chain.damage {
        text.push_str(&format!("  {}\n", shown_line(damage)));
    }
    for row in &chain.disagreements {
        text.push_str(&format!("  {}: {}\n", shown_line(&row.what), shown_line(&row.reason)));
    }
    text
}

//! `planwright verify`

use std::path::Path;

use planwright_engine::approvals::ExportedKey;
use planwright_engine::verifier::{ChainReport, VerifyReport};
use serde_json::{Value, json};

use super::ProgressLine;
use crate::commands::plan::damaged;
use crate::context::{Context, read_file};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{BOLD, ERROR, GOOD};
use crate::terminal::text::{count, paint, shown_line};

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
    report.damaged.extend(context.engine.approvals().audit(kept.as_deref()).await?);
    context.screen.answer(|| view(&report), || describe(&report))?;
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

fn view(report: &VerifyReport) -> Value {
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
    })
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

//! For programs: each answer is one object on a line of its own, and nothing else is printed.

use std::io::{self, Write as _};

use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;
use planwright_core::turn::TurnEnd;
use planwright_surfaces::wire::PlanCardView;
use serde_json::{Value, json};

use super::View;
use crate::failure::Failure;
use crate::terminal::json;

#[derive(Debug)]
pub(in crate::chat) struct JsonView;

impl View for JsonView {
    fn show(&mut self, _: &Progress) -> Result<(), Failure> {
        Ok(())
    }

    fn stopping(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn queued(&mut self, _: Vec<String>) -> Result<(), Failure> {
        Ok(())
    }

    fn message(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", json::line(&view(answer))?)?;
        Ok(stdout.flush()?)
    }
}

fn view(answer: &Answer) -> Value {
    let outcome = match &answer.end {
        _ if answer.refused() => "refused",
        Some(end) => end.name(),
        None => "done",
    };
    let mut view = json!({
        "sessionId": answer.session.conversation,
        "channel": answer.session.channel,
        "reply": answer.reply,
        "outcome": outcome,
    });
    if let Some(decided) = &answer.decided {
        view["decided"] = json!(decided);
    }
    let ended_with = answer.end.as_ref().and_then(TurnEnd::plan);
    if let Some(plan) = answer.plan.as_ref().map(|card| &card.plan_id).or(ended_with) {
        view["planId"] = json!(plan);
    }
    if let Some(ask) = answer.ask.as_ref().map(|waiting| &waiting.ask) {
        view["ask"] = json!({ "id": ask.id, "code": ask.code(), "title": ask.subject.title() });
    }
    if let Some(planner) = &answer.planner {
        view["planner"] = json!(planner);
    }
    if let Some(card) = &answer.plan {
        view["plan"] = json!(PlanCardView::from(card.clone()));
    }
    view
}

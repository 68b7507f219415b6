//! `plan list`

use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::{PlanModeView, PlanSummaryView};
use serde_json::json;

use super::damaged;
use crate::context::{Context, PAGE};
use crate::failure::ExitResult;
use crate::terminal::palette::{self, BOLD, DIM, PLAIN};
use crate::terminal::table::{Cell, table};
use crate::terminal::text::{paint, shown_line};
use crate::terminal::time;

pub(super) async fn run(context: &Context, session: &SessionIdentity, before: Option<u64>) -> ExitResult {
    let opened = context.engine.sessions().get(session).await?;
    let page = context.engine.plans().list(session, before, PAGE).await?;
    let view = || {
        json!({
            "sessionId": session.conversation,
            "channel": session.channel,
            "planMode": PlanModeView::from(&opened.plan_mode),
            "plans": page.items.iter().map(PlanSummaryView::from).collect::<Vec<_>>(),
            "next": page.next,
            "damaged": damaged::view(&page.damaged),
        })
    };
    let describe = || {
        let mut text = format!("{}\n", paint(&format!("session {session}"), DIM));
        if page.items.is_empty() && page.damaged.is_empty() {
            text.push_str("There are no plans here yet.\n");
        } else {
            let rows: Vec<_> = page
                .items
                .iter()
                .map(|plan| {
                    let active = opened.plan_mode.active_plan.as_ref() == Some(&plan.id);
                    [
                        Cell::new(if active { "▸" } else { " " }, BOLD),
                        Cell::new(format!("{}", plan.number), BOLD),
                        Cell::new(plan.status.as_str(), palette::status(plan.status)),
                        Cell::new(shown_line(&plan.title), PLAIN),
                        Cell::new(plan.id.short(), DIM),
                        Cell::new(time::ago(plan.updated_at), DIM),
                    ]
                })
                .collect();
            if !rows.is_empty() {
                text.push_str(&table([" ", "NO", "STATUS", "TITLE", "ID", "UPDATED"], &rows, 3, context.screen.width));
            }
        }
        text.push_str(&damaged::describe(&page.damaged));
        if let Some(next) = page.next {
            let more = context.invocation.plan(["list", "--before", &next.to_string()]);
            text.push_str(&format!("{}\n", paint(&format!("more: {more}"), DIM)));
        }
        text
    };
    context.screen.answer(view, describe)
}

//! `/plan files on|off`, the workbook that `/plan <text>` begins, and a document that a person writes.

use planwright_core::slash::OnOff;
use planwright_core::workbook::DocumentKind;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::workbook::NewWorkbook;

use crate::session::outcome::Answer;
use crate::session::work::InputContext;

pub(super) async fn switch(engine: &Engine, switch: OnOff, context: &InputContext) -> LedgerResult<Answer> {
    let (session, by) = (context.session(), context.by());
    let on = match switch {
        OnOff::On => true,
        OnOff::Off => false,
    };
    let snapshot = context.engine(engine).workbooks().switch_planning_files(session, by, on).await?.snapshot;
    let current = snapshot.session.as_ref().and_then(|session| session.current_workbook());
    let message = match (switch, current) {
        (OnOff::On, None) => {
            "Planning files are **on**. The agent keeps task plan, findings and progress for long work; it begins them \
                 when there is some, or at once with `/plan` and what you want to get done."
                .to_owned()
        }
        (OnOff::On, Some(workbook)) => format!("Planning files are **on**. The workbook is “{}”.", workbook.title),
        (OnOff::Off, _) => "Planning files are **off**. What was written stays where it is.".to_owned(),
    };
    Ok(Answer::text(session, message))
}

/// Begins a workbook about a person's text, unless one is open. An open one is switched on again if it was off.
pub(super) async fn begin(engine: &Engine, text: &str, context: &InputContext) -> LedgerResult<()> {
    let (session, by) = (context.session(), context.by());
    let begun = context.part(engine, "workbook").workbooks().init(session, by, &NewWorkbook::about(text)).await?;
    if !begun.is_new {
        engine.workbooks().switch_planning_files(session, by, true).await?;
    }
    Ok(())
}

/// Replaces a document by what a person wrote.
pub(crate) async fn write(
    engine: &Engine,
    which: DocumentKind,
    base_version: u32,
    content: String,
    context: &InputContext,
) -> LedgerResult<Answer> {
    let (session, by) = (context.session(), context.by());
    let written = context.engine(engine).workbooks().write(session, by, which, base_version, content).await?;
    let message = match written.changed {
        true => format!("Version {} of {which} is stored.", written.version),
        false => format!("Version {} of {which} says this already.", written.version),
    };
    Ok(Answer::text(session, message))
}

//! Damaged rows are listed beside the others.

use planwright_engine::ledger::DamagedRow;
use serde_json::{Value, json};

use crate::terminal::palette::ERROR;
use crate::terminal::text::{paint, shown_line};

pub(crate) fn view(rows: &[DamagedRow]) -> Value {
    rows.iter().map(|row| json!({ "what": row.what, "reason": row.reason })).collect()
}

pub(crate) fn describe(rows: &[DamagedRow]) -> String {
    rows.iter()
        .map(|row| format!("{} {}: {}\n", paint("damaged:", ERROR), shown_line(&row.what), shown_line(&row.reason)))
        .collect()
}

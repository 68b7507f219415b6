//! The line below the box: where one is, who answers, how the plan stands, and what the session has used.

use planwright_core::plan::PlanStatus;
use planwright_core::visible::visible;

use crate::terminal::palette::{self, DIM};
use crate::terminal::text::{Span, count, painted, width};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::chat) struct StatusLine {
    /// The project folder, or the session where there is none.
    pub(in crate::chat) place: String,
    pub(in crate::chat) model: String,
    pub(in crate::chat) plan: Option<(u32, PlanStatus)>,
    /// The part of the model's context that is used, in percent.
    pub(in crate::chat) context: Option<u64>,
    pub(in crate::chat) tokens: u64,
    /// In millionths of the currency of the prices.
    pub(in crate::chat) cost: Option<u64>,
}

impl StatusLine {
    /// As wide as the window at most. What is worth least is left out first.
    pub(super) fn painted(&self, room: usize) -> String {
        let mut parts = self.parts();
        loop {
            let spans = joined(&parts);
            if width(&spans) + 2 <= room || parts.len() <= 1 {
                return format!("  {}", painted(&spans));
            }
            let least = parts.iter().enumerate().max_by_key(|(_, (order, _))| *order).map(|(at, _)| at);
            parts.remove(least.unwrap_or(0));
        }
    }

    /// Each with its place in the order of worth.
    fn parts(&self) -> Vec<(u8, Vec<Span>)> {
        let dim = |text: &str| vec![Span::new(&visible(text), DIM)];
        let mut parts = vec![(1, dim(&self.place)), (2, dim(&self.model))];
        if let Some((number, status)) = self.plan {
            let number = Span::new(&format!("plan {number} "), DIM);
            parts.push((0, vec![number, Span::new(status.as_str(), palette::status(status))]));
        }
        if let Some(percent) = self.context.filter(|percent| *percent > 0) {
            parts.push((3, dim(&format!("context {}% left", 100_u64.saturating_sub(percent)))));
        }
        if self.tokens > 0 {
            parts.push((4, dim(&short(self.tokens))));
        }
        if let Some(cost) = self.cost.filter(|cost| *cost > 0) {
            parts.push((3, dim(&format!("{}.{:02}", cost / 1_000_000, cost % 1_000_000 / 10_000))));
        }
        parts.retain(|(_, spans)| width(spans) > 0);
        parts
    }
}

fn joined(parts: &[(u8, Vec<Span>)]) -> Vec<Span> {
    let mut spans = Vec::new();
    for (_, part) in parts {
        if !spans.is_empty() {
            spans.push(Span::new(" · ", DIM));
        }
        spans.extend(part.iter().cloned());
    }
    spans
}

/// `950 tokens`, `12.3k tokens`
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => count(tokens, "token"),
        1_000..1_000_000 => format!("{}.{}k tokens", tokens / 1_000, tokens % 1_000 / 100),
        _ => format!("{}.{}M tokens", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_narrow_window_the_plan_stays_longest() {
        let line = StatusLine {
            place: "~/shop".to_owned(),
            model: "openai:gpt-5".to_owned(),
            plan: Some((2, PlanStatus::Ready)),
            context: Some(12),
            tokens: 12_345,
            cost: Some(120_000),
        };
        let shown = |room| anstream::adapter::strip_str(&line.painted(room)).to_string();
        assert_eq!(shown(100), "  ~/shop · openai:gpt-5 · plan 2 READY · context 88% left · 12.3k tokens · 0.12");
        assert_eq!(shown(45), "  ~/shop · openai:gpt-5 · plan 2 READY");
        assert_eq!(shown(30), "  ~/shop · plan 2 READY");
        assert_eq!(shown(10), "  plan 2 READY");
        assert_eq!(anstream::adapter::strip_str(&StatusLine::default().painted(80)).to_string(), "  ");
    }
}

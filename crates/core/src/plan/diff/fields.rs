//! Everything but the steps: single texts, lists and headings.

use std::collections::HashMap;
use std::hash::Hash;

use super::{ListName, PlanDiffItem};
use crate::plan::content::Built;
use crate::plan::markdown::Heading;

type Before = Option<String>;
type After = Option<String>;

pub(super) fn changed(from: Option<&str>, to: Option<&str>) -> Option<(Before, After)> {
    (from != to).then(|| (from.map(str::to_owned), to.map(str::to_owned)))
}

pub(super) fn summary(from: Option<&str>, to: Option<&str>, changes: &mut Vec<PlanDiffItem>) {
    if let Some((from, to)) = changed(from, to) {
        changes.push(PlanDiffItem::SummaryChanged { from, to });
    }
}

pub(super) fn built(from: &Built, to: &Built, changes: &mut Vec<PlanDiffItem>) {
    if let Some((from, to)) = changed(from.goal.as_deref(), to.goal.as_deref()) {
        changes.push(PlanDiffItem::GoalChanged { from, to });
    }
    summary(from.summary.as_deref(), to.summary.as_deref(), changes);
    let lists = [
        (ListName::Assumptions, &from.assumptions, &to.assumptions),
        (ListName::Risks, &from.risks, &to.risks),
        (ListName::Verification, &from.verification, &to.verification),
        (ListName::Files, &from.files, &to.files),
    ];
    for (list, from, to) in lists {
        let before = changes.len();
        changes
            .extend(left_over(from, to).into_iter().map(|text| PlanDiffItem::ItemRemoved { list, text: text.clone() }));
        changes
            .extend(left_over(to, from).into_iter().map(|text| PlanDiffItem::ItemAdded { list, text: text.clone() }));
        if changes.len() == before && from != to {
            changes.push(PlanDiffItem::ItemsReordered { list });
        }
    }
}

pub(super) fn headings(from: &[Heading], to: &[Heading], changes: &mut Vec<PlanDiffItem>) {
    let removed = |heading: &Heading| PlanDiffItem::HeadingRemoved { level: heading.level, text: heading.text.clone() };
    let added = |heading: &Heading| PlanDiffItem::HeadingAdded { level: heading.level, text: heading.text.clone() };
    changes.extend(left_over(from, to).into_iter().map(removed));
    changes.extend(left_over(to, from).into_iter().map(added));
}

/// The items of `these` that have no equal partner in `those`, in order.
fn left_over<'a, T: Eq + Hash>(these: &'a [T], those: &[T]) -> Vec<&'a T> {
    let mut partners: HashMap<&T, usize> = HashMap::new();
    for item in those {
        *partners.entry(item).or_default() += 1;
    }
    let has_none = |item: &&T| match partners.get_mut(*item) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    these.iter().filter(has_none).collect()
}

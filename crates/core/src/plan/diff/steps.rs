//! What changed among the steps.

use super::pairs::Pairing;
use super::{PlanDiffItem, StepField};
use crate::ids::StepId;
use crate::plan::content::{AgentStep, PlanStep, RecordedCall};
use crate::plan::digest::canonical;

/// Steps that have nothing but their words: those of a document, or of two plans of different styles.
pub(super) fn read_from_text(from: &[PlanStep], to: &[PlanStep], changes: &mut Vec<PlanDiffItem>) {
    fn descriptions(steps: &[PlanStep]) -> Vec<&str> {
        steps.iter().map(|step| step.description.as_str()).collect()
    }
    let pairing = Pairing::by_text(&descriptions(from), &descriptions(to));
    let text = |step: &PlanStep| step.description.clone();
    report(&pairing, (from, to), text, changes, |position, before, after, changes| {
        reworded(position, text(before), text(after), changes);
        if after.ticked && !before.ticked {
            changes.push(PlanDiffItem::StepTicked { position, description: text(after) });
        } else if before.ticked && !after.ticked {
            changes.push(PlanDiffItem::StepUnticked { position, description: text(after) });
        }
    });
}

pub(super) fn recorded(from: &[RecordedCall], to: &[RecordedCall], changes: &mut Vec<PlanDiffItem>) {
    let id = |step: &RecordedCall| step.id.to_string();
    let call = |step: &RecordedCall| format!("{}({})", step.tool, canonical(&step.arguments));
    let pairing = Pairing::by_keys(from, to, &[&id, &call]);
    let text = |step: &RecordedCall| step.as_step().description;
    report(&pairing, (from, to), text, changes, |position, before, after, changes| {
        // A call without words of its own is not reworded when its arguments change: that is a change of its own.
        if before.description != after.description {
            reworded(position, text(before), text(after), changes);
        }
        changed(position, StepField::Tool, Some(&before.tool), Some(&after.tool), changes);
        let (before, after) = (canonical(&before.arguments), canonical(&after.arguments));
        changed(position, StepField::Arguments, Some(&before), Some(&after), changes);
    });
}

pub(super) fn built(from: &[AgentStep], to: &[AgentStep], changes: &mut Vec<PlanDiffItem>) {
    let id = |step: &AgentStep| step.id.to_string();
    let content = |step: &AgentStep| format!("{}\n{}", step.agent, step.description);
    let text = |step: &AgentStep| step.description.clone();
    let pairing = Pairing::by_keys(from, to, &[&id, &content, &text]);
    let needs = Needs { from, to, pairing: &pairing };
    report(&pairing, (from, to), text, changes, |position, before, after, changes| {
        reworded(position, text(before), text(after), changes);
        changed(position, StepField::Agent, Some(&before.agent), Some(&after.agent), changes);
        if needs.before(before) != needs.after(after) {
            changes.push(PlanDiffItem::StepChanged {
                position,
                field: StepField::Needs,
                from: describe_needs(from, &before.needs),
                to: describe_needs(to, &after.needs),
            });
        }
        let verification = (before.verification.as_ref(), after.verification.as_ref());
        changed(position, StepField::Verification, verification.0, verification.1, changes);
        let lines = |step: &AgentStep| (!step.commands.is_empty()).then(|| step.commands.join("\n"));
        changed(position, StepField::Commands, lines(before).as_ref(), lines(after).as_ref(), changes);
    });
}

/// Removed steps first, then the newer version from top to bottom. `details` compares two that belong together.
fn report<T>(
    pairing: &Pairing,
    (from, to): (&[T], &[T]),
    text: impl Fn(&T) -> String,
    changes: &mut Vec<PlanDiffItem>,
    details: impl Fn(usize, &T, &T, &mut Vec<PlanDiffItem>),
) {
    for index in pairing.removed() {
        changes.push(PlanDiffItem::StepRemoved { position: index + 1, description: text(&from[index]) });
    }
    let mut pairs = pairing.pairs().iter().peekable();
    for (index, step) in to.iter().enumerate() {
        let position = index + 1;
        match pairs.next_if(|pair| pair.to == index) {
            None => changes.push(PlanDiffItem::StepAdded { position, description: text(step) }),
            Some(pair) => {
                if pair.moved {
                    changes.push(PlanDiffItem::StepMoved {
                        from: pair.from + 1,
                        to: position,
                        description: text(step),
                    });
                }
                details(position, &from[pair.from], step, changes);
            }
        }
    }
}

fn reworded(position: usize, from: String, to: String, changes: &mut Vec<PlanDiffItem>) {
    if from != to {
        changes.push(PlanDiffItem::StepReworded { position, from, to });
    }
}

fn changed(
    position: usize,
    field: StepField,
    from: Option<&String>,
    to: Option<&String>,
    changes: &mut Vec<PlanDiffItem>,
) {
    if from != to {
        changes.push(PlanDiffItem::StepChanged { position, field, from: from.cloned(), to: to.cloned() });
    }
}

/// What a step needs is the same if it needs the same steps, wherever they stand and whatever their ids are.
struct Needs<'a> {
    from: &'a [AgentStep],
    to: &'a [AgentStep],
    pairing: &'a Pairing,
}

/// A needed step, by its index in the newer version if that has it, else by its index in the older one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Needed {
    There(usize),
    Gone(usize),
}

impl Needs<'_> {
    fn before(&self, step: &AgentStep) -> Vec<Needed> {
        let place = |index: usize| {
            let pair = self.pairing.pairs().iter().find(|pair| pair.from == index);
            pair.map_or(Needed::Gone(index), |pair| Needed::There(pair.to))
        };
        sorted(indices(self.from, &step.needs).map(place))
    }

    fn after(&self, step: &AgentStep) -> Vec<Needed> {
        sorted(indices(self.to, &step.needs).map(Needed::There))
    }
}

/// The positions of the needed steps, in the version they belong to.
fn describe_needs(steps: &[AgentStep], needs: &[StepId]) -> Option<String> {
    let positions: Vec<_> = indices(steps, needs).map(|index| (index + 1).to_string()).collect();
    (!positions.is_empty()).then(|| positions.join(", "))
}

fn indices<'a>(steps: &'a [AgentStep], needs: &'a [StepId]) -> impl Iterator<Item = usize> {
    needs.iter().filter_map(|need| steps.iter().position(|step| step.id == *need))
}

fn sorted(needed: impl Iterator<Item = Needed>) -> Vec<Needed> {
    let mut needed: Vec<_> = needed.collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

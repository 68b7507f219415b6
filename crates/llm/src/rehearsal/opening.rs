//! The words with which the engine begins a turn by itself.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening<'a> {
    /// An approved plan is to be carried out, or continued, in the conversation it was made in.
    Plan,
    /// A specialist is given one step.
    Step { step: u64, plan: u64, rest: &'a str },
    /// A specialist is asked something.
    Question(&'a str),
}

impl<'a> Opening<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let inside = text.trim_start().strip_prefix('[')?;
        if let Some(rest) = inside.strip_prefix("Question from the planner") {
            return Some(Self::Question(after_the_bracket(rest)));
        }
        if let Some(rest) = inside.strip_prefix("Step ") {
            let (step, rest) = number(rest)?;
            let (_, rest) = number(rest.strip_prefix(" of ")?)?;
            let (plan, rest) = number(rest.strip_prefix(" of plan ")?)?;
            return Some(Self::Step { step, plan, rest: after_the_bracket(rest) });
        }
        if let Some(rest) = inside.strip_prefix("Go on with plan ") {
            return number(rest).map(|_| Self::Plan);
        }
        let (_, rest) = number(inside.strip_prefix("Plan ")?)?;
        rest.starts_with(" was approved").then_some(Self::Plan)
    }
}

/// What is said after the brackets, or else in them.
fn after_the_bracket(rest: &str) -> &str {
    let (inside, after) = rest.split_once(']').unwrap_or((rest, ""));
    let text = if after.trim().is_empty() { inside } else { after };
    text.trim_matches(|c: char| c.is_whitespace() || ":,.".contains(c))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_engines_own_words_are_openings() {
        let step = |step, plan, rest| Some(Opening::Step { step, plan, rest });
        for (text, opening) in [
            ("[Plan 1 was approved by \"ada\". Carry it out.]", Some(Opening::Plan)),
            ("[Plan 12 was approved", Some(Opening::Plan)),
            ("[Go on with plan 3: two steps are open.]", Some(Opening::Plan)),
            ("[Step 2 of 4 of plan 7]\n\nBake the bread.\n", step(2, 7, "Bake the bread")),
            ("[Step 2 of 4 of plan 7: Bake the bread.]", step(2, 7, "Bake the bread")),
            ("[Step 2 of 4 of plan 7", step(2, 7, "")),
            ("[Question from the planner]\n\nIs there flour?", Some(Opening::Question("Is there flour?"))),
            ("[Question from the planner: is there flour?]", Some(Opening::Question("is there flour?"))),
            ("Plan 1 was approved", None),
            ("[Plan was approved]", None),
            ("[Plan 1 was rejected]", None),
            ("[Go on with plan]", None),
            ("[Step 2 of plan 7]", None),
            ("[Step two of 4 of plan 7]", None),
            ("[Step 99999999999999999999 of 4 of plan 7]", None),
            ("He said: [Plan 1 was approved]", None),
            ("[", None),
            ("", None),
        ] {
            assert_eq!(Opening::of(text), opening, "{text}");
        }
    }
}

//! Approvals in a chat that need more than a line of text: a digest in a pipe, a passphrase on a terminal.

use std::io::Write as _;
use std::time::{Duration, Instant};

use planwright_agent::session::input::{Approving, BeginWork, Changes, Input, SeenPlan};
use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::ask::AskSubject;
use planwright_core::command::StuckChoice;
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::risk::requirement_of_call;
use planwright_core::plan::{Digest, Plan};
use planwright_core::presence::Presence;
use planwright_core::slash::{PlanCommand, SlashCommand, ToolsCommand};
use planwright_core::turn::ShownPlan;
use planwright_engine::approvals::UnlockedKey;

use super::conversation::{Asker, ChatConversation, ExchangeStart};
use crate::approver;
use crate::failure::Failure;
use crate::shown_act::ShownAct;
use crate::terminal::card::{self, Form};
use crate::terminal::screen;

/// The word before the digest of the plan that a pipe approves.
const DIGEST: &str = "--digest";

impl ChatConversation {
    /// The input as it is submitted, and the person who submits it.
    pub(super) async fn confirmed(
        &mut self,
        input: Input,
        asked: ExchangeStart<'_>,
    ) -> Result<(Input, Actor), Failure> {
        let input = self.with_comments(input).await?;
        let unchanged = |this: &Self, input| Ok((input, this.person().clone()));
        if self.needs_verified(&input).await? {
            let shown = match &input {
                Input::Command(command) => ShownAct::of(self.agent().engine(), self.session(), command).await,
                _ => None,
            };
            shown.as_ref().map_or(Ok(()), ShownAct::show)?;
            let key = self.unlocked().await?;
            let person = approver::verified(self.person(), &key);
            self.remember_key(key).await?;
            let person = match shown {
                Some(shown) => shown.signed_by(person),
                None => person,
            };
            return Ok((input, person));
        }
        let Input::Command(SlashCommand::Plan(command)) = &input else { return unchanged(self, input) };
        let PlanCommand::Approve { plan: reference, selection, step_by_step, note } = command else {
            return unchanged(self, input);
        };
        // The answer says what is wrong with the plan.
        let engine = self.agent().engine().clone();
        let Ok(plan) = engine.plans().find(self.session(), reference.as_ref()).await else {
            return unchanged(self, input);
        };
        let policy = engine.approvals().policy_in(&plan.session).await?;
        let needed = plan.requirement(&policy.approval);
        if needed == Require::Any || plan.permits(Action::Approve).is_err() {
            return unchanged(self, input);
        }
        if let Asker::Pipe = self.asker() {
            let given = match asked {
                ExchangeStart::Text(text) => split_digest(text).1,
                ExchangeStart::Input(_) | ExchangeStart::Resume => None,
            };
            let digest = given.ok_or_else(|| needs_digest(&plan))?;
            self.set_seen(SeenPlan::AtSurface(Some(ShownPlan { plan: plan.id.clone(), digest })));
        }
        if needed != Require::Verified {
            return unchanged(self, input);
        }
        let Some(digest) = self.seen_digest(&plan) else { return unchanged(self, input) };
        if digest != plan.digest() {
            return unchanged(self, input);
        }
        let mut approving = Approving {
            selection: selection.clone(),
            note: note.clone(),
            step_by_step: *step_by_step,
            ..Approving::default()
        };
        if self.remembered().is_none() {
            // What is signed is shown whole first.
            let whole = card::whole(&plan, None, Form::Rendered, screen::width());
            anstream::stdout().lock().write_all(whole.as_bytes())?;
        }
        let key = self.unlocked().await?;
        let (person, signature) = approver::sign(&engine, self.person(), &key, &plan, digest, &approving).await?;
        approving.signature = Some(signature);
        self.remember_key(key).await?;
        Ok((Input::Approve { plan: plan.id.clone(), digest, approving, begin: BeginWork::Now }, person))
    }
}

impl ChatConversation {
    /// A request for changes takes the comments along that the person has kept on the plan.
    async fn with_comments(&self, input: Input) -> Result<Input, Failure> {
        let (Asker::Terminal(_), Input::Command(SlashCommand::Plan(PlanCommand::Revise { plan, feedback }))) =
            (self.asker(), &input)
        else {
            return Ok(input);
        };
        let engine = self.agent().engine();
        // The answer says what is wrong with the plan.
        let Ok(plan) = engine.plans().find(self.session(), plan.as_ref()).await else { return Ok(input) };
        let review = engine.reviews().draft(&plan, self.person()).await?;
        if review.comments.is_empty() {
            return Ok(input);
        }
        let changes = Changes { feedback: feedback.clone(), review: Some(review) };
        Ok(Input::Revise { plan: plan.id.clone(), changes, begin: BeginWork::Now })
    }

    /// Whether the input permits something that takes a verified person: a call of the agent, or tools of an MCP server.
    async fn needs_verified(&self, input: &Input) -> Result<bool, Failure> {
        // A command such as `planwright schedule` asked for the passphrase before.
        if matches!(self.person().presence, Some(Presence::Verified { .. })) {
            return Ok(false);
        }
        let approvals = self.agent().engine().approvals();
        let require = match input {
            Input::Command(SlashCommand::Tools(ToolsCommand::Accept { code: Some(_), .. })) => {
                approvals.acceptance_requirement().await?
            }
            Input::Command(SlashCommand::Allow { code: Some(_), .. }) => {
                let session = self.agent().engine().sessions().get(self.session()).await?;
                match session.waiting_ask().map(|ask| &ask.subject) {
                    Some(AskSubject::Permission(call)) => {
                        let policy = approvals.policy_in(&session.identity).await?.approval.clone();
                        requirement_of_call(&policy, session.identity.channel, &call.tool)
                    }
                    Some(AskSubject::Questions { .. }) | None => Require::Any,
                }
            }
            Input::Command(SlashCommand::Plan(PlanCommand::Resume { plan: reference, choice })) => {
                let found = self.agent().engine().plans().find(self.session(), reference.as_ref()).await;
                match (found, choice) {
                    (Ok(plan), None | Some(StuckChoice::Retry | StuckChoice::Skip)) => {
                        plan.requirement(&approvals.policy_in(&plan.session).await?.approval)
                    }
                    // The answer says what is wrong with the plan.
                    (Ok(_), Some(StuckChoice::Stop)) | (Err(_), _) => Require::Any,
                }
            }
            Input::Command(command) if command.lets_work_happen() => {
                approvals.policy_in(self.session()).await?.approval.requirement_of_work(self.session().channel)
            }
            _ => Require::Any,
        };
        Ok(require == Require::Verified)
    }

    /// The key that the person unlocked a moment ago, or unlocks now.
    async fn unlocked(&mut self) -> Result<UnlockedKey, Failure> {
        if let Some(key) = self.remembered() {
            return Ok(key);
        }
        let paused = self.typing().pause();
        let unlocked = approver::unlock(self.agent().engine(), self.person(), self.approver()).await;
        self.typing().resume(paused);
        unlocked
    }

    /// Keeps the key for as long as the policy says.
    async fn remember_key(&mut self, key: UnlockedKey) -> Result<(), Failure> {
        let policy = self.agent().engine().approvals().policy().await?;
        let seconds = policy.approval.remembered();
        if seconds > 0 && self.remembered().is_none() {
            self.remember(key, Instant::now() + Duration::from_secs(seconds));
        }
        Ok(())
    }
}

/// `/plan approve 1 --digest HEX` without the digest, and the digest.
pub(super) fn split_digest(text: &str) -> (String, Option<Digest>) {
    let words: Vec<_> = text.split_whitespace().collect();
    let approves = matches!(words.as_slice(), ["/plan", "approve", ..]);
    let note = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let found = words[..note].iter().position(|word| *word == DIGEST).filter(|_| approves);
    let Some((position, digest)) = found.and_then(|at| Some((at, words.get(at + 1)?.parse().ok()?))) else {
        return (text.to_owned(), None);
    };
    let rest = words.iter().enumerate().filter(|(index, _)| *index != position && *index != position + 1);
    (rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" "), Some(digest))
}

fn needs_digest(plan: &Plan) -> Failure {
    let (number, digest) = (plan.number, plan.digest());
    Failure::declined(format!(
        "Plan {number} was not approved: no person reads what a pipe shows, so the line has to name the text that it approves."
    ))
    .hint(format!("read the plan, then send `/plan approve {number} {DIGEST} {digest}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_part_of_an_approval_and_of_nothing_else() {
        let digest = "ab".repeat(32);
        let given = |text: &str| {
            let (rest, found) = split_digest(&text.replace("HEX", &digest));
            (rest.replace(&digest, "HEX"), found.is_some())
        };
        for (text, rest, found) in [
            ("/plan approve 1 --digest HEX", "/plan approve 1", true),
            ("/plan approve --digest HEX only 1,3 -- a note", "/plan approve only 1,3 -- a note", true),
            ("/plan approve 1 -- see --digest HEX", "/plan approve 1 -- see --digest HEX", false),
            ("/plan approve 1 --digest short", "/plan approve 1 --digest short", false),
            ("write --digest HEX", "write --digest HEX", false),
        ] {
            assert_eq!(given(text), (rest.to_owned(), found), "{text}");
        }
    }
}

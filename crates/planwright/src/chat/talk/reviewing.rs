//! What a person does with a plan before they decide: ticks steps, comments on them, edits the text, reads it in a pager.

use planwright_agent::session::input::{BeginWork, Changes, Input};
use planwright_core::ids::CommentId;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::review::{CommentAnchor, CommentKind, Review, ReviewComment};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;

use super::own_commands::LocalReply;
use super::{ExchangeStart, Next, Surface, Talk};
use crate::chat::step_ticks::{Picked, StepTicks};
use crate::chat::typeahead::ReturnReason;
use crate::external_pager;
use crate::failure::Failure;
use crate::signals::{Signal, WindowChanges};
use crate::terminal::card::{self, Form};
use crate::terminal::text::count;
use crate::terminal::{file_diff, live, screen};

/// So much of a digest tells the comments on two versions apart.
const DIGEST_LENGTH: usize = 8;

impl Talk {
    /// The person ticks steps in the place of the box. What they tick is approved as it is on the screen.
    pub(super) async fn pick(&mut self, plan: Option<&PlanReference>) -> Result<LocalReply, Failure> {
        let plan = self.conversation.agent().engine().plans().find(self.conversation.session(), plan).await?;
        let told = |text: &str| Ok(LocalReply::Markdown(text.to_owned()));
        if plan.status != PlanStatus::Ready {
            return told("Only a plan that waits for approval has steps to tick.");
        }
        if let PlanContent::Document(_) = plan.content {
            return told("A document is approved as a whole.");
        }
        let Surface::Inline = self.surface else {
            let example = format!("/plan approve {} only 1,3", plan.number);
            return Ok(LocalReply::Markdown(format!(
                "Steps are ticked in the box only. Here type `a 1,3` or `{example}`."
            )));
        };
        let Some(command) = self.ticked(StepTicks::of(&plan)).await? else {
            return told("Nothing was approved.");
        };
        if self.conversation.waiting().await != self.last {
            return told(ReturnReason::Changed.explanation());
        }
        Ok(LocalReply::Send(command))
    }

    /// The command for the ticked steps. `None` if the person leaves.
    async fn ticked(&mut self, mut ticks: StepTicks) -> Result<Option<String>, Failure> {
        let mut changes = WindowChanges::new()?;
        loop {
            self.view.input(ticks.draw(live::width(), screen::window().1))?;
            let (signals, typing) = self.conversation.signals_and_typing();
            tokio::select! {
                biased;
                signal = signals.next() => match signal {
                    Signal::Interrupt | Signal::Terminate | Signal::Hangup => return Ok(None),
                },
                () = typing.wait() => {}
                _ = changes.next() => {}
            }
            if self.conversation.typing().is_gone() {
                return Ok(None);
            }
            for key in self.conversation.typing().keys() {
                match ticks.press(&key) {
                    Picked::Going => {}
                    Picked::Left => return Ok(None),
                    Picked::Approve(command) => return Ok(Some(command)),
                }
            }
        }
    }

    /// Keeps words about a step of the active plan, or about all of it, until they are sent.
    pub(super) async fn comment(&mut self, step: Option<usize>, text: &str) -> Result<LocalReply, Failure> {
        let (engine, person) = (self.conversation.agent().engine().clone(), self.conversation.person().clone());
        let plan = engine.plans().active(self.conversation.session()).await?;
        let anchor = anchor(&plan, step)?;
        let mut review = engine.reviews().draft(&plan, &person).await?;
        let number = review.comments.len() + 1;
        let id = format!("{}-{number}", &plan.digest().to_string()[..DIGEST_LENGTH]);
        let comment =
            ReviewComment { id: CommentId::new(id)?, anchor, kind: CommentKind::Comment, text: text.to_owned() };
        review.version = plan.version;
        review.comments.push(comment);
        engine.reviews().put(&plan, &person, review).await?;
        let about =
            step.map_or_else(|| format!("plan {}", plan.number), |step| format!("step {step} of plan {}", plan.number));
        let kept = count(number, "comment");
        Ok(LocalReply::Markdown(format!(
            "Your comment on {about} is kept, {kept} in all. A request for changes takes them along; `/comment send` sends them alone."
        )))
    }

    /// Asks for changes with the comments alone.
    pub(super) async fn send_comments(&mut self) -> Result<Next, Failure> {
        let (plan, review) = match self.comments().await {
            Ok(drafted) => drafted,
            Err(failure) => {
                self.report(&failure)?;
                self.view.give_up()?;
                return Ok(Next::GoOn);
            }
        };
        let changes = Changes { feedback: String::new(), review: Some(review) };
        let revise = Input::Revise { plan: plan.id.clone(), changes, begin: BeginWork::Now };
        self.exchange(ExchangeStart::Input(&revise)).await
    }

    async fn comments(&self) -> Result<(std::sync::Arc<Plan>, Review), Failure> {
        let engine = self.conversation.agent().engine();
        let plan = engine.plans().active(self.conversation.session()).await?;
        let review = engine.reviews().draft(&plan, self.conversation.person()).await?;
        if review.comments.is_empty() {
            return Err(Failure::declined("There are no comments to send. `/comment 2 WORDS` keeps one."));
        }
        Ok((plan, review))
    }

    /// The text of a document is edited in the person's editor and becomes a version of theirs.
    pub(super) async fn edit_plan(&mut self, plan: &PlanReference) -> Result<LocalReply, Failure> {
        let (engine, session) = (self.conversation.agent().engine().clone(), self.conversation.session().clone());
        let plan = engine.plans().find(&session, Some(plan)).await?;
        let told = |text: &str| Ok(LocalReply::Markdown(text.to_owned()));
        if !matches!(plan.content, PlanContent::Document(_)) {
            return told("Only a document is edited as a text. `/plan revise` asks for changes of another plan.");
        }
        if engine.plans().active(&session).await?.id != plan.id {
            return told("Only the plan that is worked on can be edited.");
        }
        let text = self.edited(&plan.markdown()).await?;
        if text.trim().is_empty() || text.trim_end() == plan.markdown().trim_end() {
            return told("The text is as it was.");
        }
        if engine.plans().get(&session, &plan.id).await?.digest() != plan.digest() {
            let kept = tempfile::Builder::new().prefix("plan-").suffix(".md").tempfile()?;
            let (_, path) = kept.keep().map_err(|error| Failure::from(error.error))?;
            std::fs::write(&path, &text)?;
            return Err(Failure::declined("The plan has changed while you edited it; nothing was written.")
                .hint(format!("your text is in {}", path.display())));
        }
        let person = self.conversation.person().clone();
        let edited = engine.plans().edit_document(&session, &person, &format!("{}\n", text.trim_end())).await?;
        Ok(LocalReply::Markdown(format!("Plan {} has your text now, as version {}.", edited.number, edited.version)))
    }

    /// The whole plan in the person's pager, and what its recorded calls would do to files.
    pub(super) async fn page(&mut self, plan: Option<&PlanReference>) -> Result<LocalReply, Failure> {
        let agent = self.conversation.agent();
        let plan = agent.engine().plans().find(self.conversation.session(), plan).await?;
        let width = screen::width();
        let mut text = card::whole(&plan, None, Form::Rendered, width);
        if let PlanContent::Collect(_) = plan.content {
            let previews = agent.workspace_files().preview(&plan).await?;
            text.push_str(&format!("\n{}", file_diff::render_preview(plan.number, &previews, width)));
        }
        self.view.leave()?;
        self.outside(|| external_pager::show(&live::without_unwanted_colors(&text))).await?;
        Ok(LocalReply::Drawn(String::new()))
    }
}

fn anchor(plan: &Plan, step: Option<usize>) -> Result<CommentAnchor, Failure> {
    let Some(position) = step else { return Ok(CommentAnchor::Plan {}) };
    let steps = plan.content.steps();
    let found = position.checked_sub(1).and_then(|index| steps.get(index));
    let step = found.ok_or_else(|| {
        Failure::from(Refusal::invalid(format!("Plan {} has {}.", plan.number, count(steps.len(), "step"))))
    })?;
    Ok(CommentAnchor::Step { step: step.id.clone() })
}

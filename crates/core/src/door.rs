//! The one door: what each command asks of the person who gives it, and what an approver signs for it. Agents and the
//! system have rules of their own, and none of them passes here.

mod acts;
mod how_to_sign;

pub use how_to_sign::{ToSign, how_to_sign};

use crate::ask::AskAnswer;
use crate::auto::{AutoCommand, ScheduleChange};
use crate::command::{AnswerCommand, Command, Decision, ExecutionCommand, SessionCommand, StuckChoice, TurnCommand};
use crate::memory::MemoryCommand;
use crate::presence::Act;
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::turn::Purpose;

/// What a command asks of the person who gives it, from nothing to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// It decides nothing and speaks for no person, or it follows from what was decided before.
    Free,
    /// It only stops something. It is open to every surface for people, and not to a process of the agent.
    Stop,
    /// It switches, writes or says something as the person: it comes from outside of the agent's reach.
    Person,
    /// It lets work happen: it asks for what the policy asks of an approval with the same risks.
    Approval,
}

impl Command {
    /// What the command asks of a person.
    pub fn guard(&self) -> Guard {
        match self {
            Self::Session(command) => command.guard(),
            Self::Decide(decision) => decision.guard(),
            Self::Answer(command) => match &command.answer {
                AskAnswer::Permission { grant, .. } if grant.permits() => Guard::Approval,
                AskAnswer::Permission { .. } => Guard::Stop,
                AskAnswer::Questions { .. } => Guard::Person,
            },
            Self::Draft(_) | Self::Import(_) => Guard::Person,
            Self::Turn(command) => command.guard(),
            Self::Memory(command) => match command {
                MemoryCommand::Promote { .. } => Guard::Approval,
                MemoryCommand::Save(_)
                | MemoryCommand::Accept(_)
                | MemoryCommand::Decline { .. }
                | MemoryCommand::Forget { .. }
                | MemoryCommand::Undo => Guard::Person,
            },
            Self::Auto(command) => match command {
                AutoCommand::Start { .. } | AutoCommand::Resume { .. } | AutoCommand::AddSchedule(_) => Guard::Approval,
                AutoCommand::ChangeSchedule { change, .. } => match change {
                    ScheduleChange::Resume => Guard::Approval,
                    ScheduleChange::Delete => Guard::Person,
                    ScheduleChange::Pause => Guard::Stop,
                },
                AutoCommand::AddGoal { .. }
                | AutoCommand::ChangeGoal { .. }
                | AutoCommand::AddTask { .. }
                | AutoCommand::ChangeTask { .. }
                | AutoCommand::WriteDiary { .. } => Guard::Person,
                AutoCommand::Stop { .. } => Guard::Stop,
                AutoCommand::Fire { .. } | AutoCommand::Interrupt { .. } => Guard::Free,
            },
            // To begin, to report and to finish follow from an approval.
            Self::Execution(command) => match command {
                ExecutionCommand::Finish { .. } | ExecutionCommand::Pause { .. } => Guard::Stop,
                ExecutionCommand::Start { .. }
                | ExecutionCommand::Advance { .. }
                | ExecutionCommand::Report(_)
                | ExecutionCommand::ReportOnStep { .. } => Guard::Free,
            },
            // A person writes as the person, also into the agent's notes.
            Self::Workbook(_) => Guard::Person,
            Self::External(_) => Guard::Free,
        }
    }
}

impl Command {
    /// What an approver signs for it, where that is no approval of a plan.
    pub fn act(&self, snapshot: &Snapshot) -> Result<Option<Act>, Refusal> {
        if self.guard() != Guard::Approval {
            return Ok(None);
        }
        Ok(match self {
            Self::Decide(Decision::Resume { plan, after_step }) => {
                Some(Act::resume(snapshot.named(plan)?, *after_step))
            }
            Self::Decide(Decision::Settle { plan, step, choice }) => Act::settle(snapshot.named(plan)?, step, *choice),
            Self::Answer(AnswerCommand { ask, digest, answer: AskAnswer::Permission { grant, arguments, .. } }) => {
                Some(Act::permit(ask, *digest, *grant, arguments.as_deref()))
            }
            Self::Memory(MemoryCommand::Promote { memory }) => Some(Act::promote(&snapshot.remembered(memory)?.item)),
            Self::Auto(AutoCommand::Start { target, .. }) => Some(Act::start_run(target, snapshot.auto())?),
            Self::Auto(AutoCommand::Resume { run, .. }) => {
                let state = snapshot.auto();
                let not_found = || snapshot.not_here("run", run.as_str());
                Some(Act::resume_run(state.run(run).ok_or_else(not_found)?, state))
            }
            Self::Auto(AutoCommand::AddSchedule(new)) => Some(Act::add_schedule(new, snapshot.auto())?),
            Self::Auto(AutoCommand::ChangeSchedule { schedule, .. }) => {
                let state = snapshot.auto();
                let not_found = || snapshot.not_here("schedule", schedule.as_str());
                Some(Act::resume_schedule(state.schedule(schedule).ok_or_else(not_found)?, state))
            }
            Self::Session(_)
            | Self::Decide(_)
            | Self::Answer(_)
            | Self::Draft(_)
            | Self::Import(_)
            | Self::Turn(_)
            | Self::Memory(_)
            | Self::Auto(_)
            | Self::Execution(_)
            | Self::Workbook(_)
            | Self::External(_) => None,
        })
    }
}

impl SessionCommand {
    const fn guard(&self) -> Guard {
        match self {
            Self::EnablePlanMode { .. }
            | Self::EnsurePlanMode { .. }
            | Self::DisablePlanMode
            | Self::FinishPlanWork
            | Self::Reset { .. }
            | Self::ChooseWorkspace(_)
            | Self::RecordUndo(_)
            | Self::Rename { .. }
            | Self::DraftReview { .. }
            | Self::ResolveComment { .. }
            | Self::TakeTurn(_) => Guard::Person,
            Self::Open | Self::SeeClient(_) => Guard::Free,
        }
    }
}

impl Decision {
    fn guard(&self) -> Guard {
        match self {
            Self::Approve { .. } | Self::Resume { .. } | Self::Signed { .. } => Guard::Approval,
            Self::Settle { choice, .. } => match choice {
                StuckChoice::Retry | StuckChoice::Skip => Guard::Approval,
                StuckChoice::Stop => Guard::Stop,
            },
            Self::Revise { .. } => Guard::Person,
            Self::Reject { .. } | Self::Cancel { .. } => Guard::Stop,
            // Comments are a person's words.
            Self::Reviewed { decision, .. } => decision.guard().max(Guard::Person),
        }
    }
}

impl TurnCommand {
    const fn guard(&self) -> Guard {
        match self {
            Self::Begin { purpose: Purpose::Answer, .. } => Guard::Person,
            // What counts as seen can be approved with few words.
            Self::Show(_) => Guard::Person,
            Self::Stop => Guard::Stop,
            Self::Begin { .. }
            | Self::BeginDocument { .. }
            | Self::Resume { .. }
            | Self::Record { .. }
            | Self::Ask { .. }
            | Self::Compact(_) => Guard::Free,
        }
    }
}

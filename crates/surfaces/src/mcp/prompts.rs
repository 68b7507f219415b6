//! The prompts that clients show as slash commands. They put the plan before the model and say what to do next. None
//! changes anything and none decides.

use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::PersonCommands;
use super::resources::plan_text;

struct PromptDefinition {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: Option<(&'static str, &'static str, bool)>,
}

const PROMPTS: [PromptDefinition; 7] = [
    PromptDefinition {
        name: "plan-on",
        title: "Plan before working",
        description: "Have the agent write a plan for a task, and wait for your approval",
        argument: Some(("task", "What is to be done", false)),
    },
    PromptDefinition {
        name: "plan-status",
        title: "How the plan stands",
        description: "Have the agent tell how far the plan is and what comes next",
        argument: None,
    },
    PromptDefinition {
        name: "plan-show",
        title: "Show a plan",
        description: "Put the whole text of a plan before the agent",
        argument: Some(("plan", "The plan's number; the active plan if empty", false)),
    },
    PromptDefinition {
        name: "plan-revise",
        title: "Change the plan",
        description: "Have the agent change the plan; the changed plan needs your approval",
        argument: Some(("changes", "What is to be different", true)),
    },
    PromptDefinition {
        name: "plan-continue",
        title: "Carry the plan out",
        description: "Have the agent continue the approved plan from the first open step",
        argument: None,
    },
    PromptDefinition {
        name: "plan-done",
        title: "Finish plan work",
        description: "Have the agent report on open steps and tell how plan work ends",
        argument: None,
    },
    PromptDefinition {
        name: "plan-resume",
        title: "Bring the plan back",
        description: "Put the plan before an agent whose context was shortened",
        argument: None,
    },
];

pub(super) fn list() -> Vec<Prompt> {
    PROMPTS
        .iter()
        .map(|prompt| {
            let argument = prompt.argument.map(|(name, text, required)| {
                vec![PromptArgument::new(name).with_description(text).with_required(required)]
            });
            Prompt::new(prompt.name, Some(prompt.description), argument).with_title(prompt.title)
        })
        .collect()
}

/// The messages of a prompt. `None` if there is none of this name.
pub(super) async fn get(
    engine: &Engine,
    session: &SessionIdentity,
    commands: &PersonCommands,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<Option<GetPromptResult>, LedgerError> {
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else { return Ok(None) };
    let given = |name: &str| {
        let value = arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        value.map(str::trim).filter(|text| !text.is_empty())
    };
    if let Some((argument, _, true)) = prompt.argument
        && given(argument).is_none()
    {
        return Err(Refusal::invalid(format!("The prompt {name} takes `{argument}`.")).into());
    }
    let reference = given("plan").map(str::parse::<PlanReference>).transpose()?;
    let plan = match engine.plans().find(session, reference.as_ref()).await {
        Ok(plan) => Some(plan),
        // Without a plan the prompt still says what to do.
        Err(LedgerError::Refused(refusal)) if reference.is_none() => {
            tracing::debug!(%refusal, "there is no plan for the prompt");
            None
        }
        Err(error) => return Err(error),
    };
    let text = plan.as_ref().map_or_else(|| "There is no plan yet.".to_owned(), |plan| plan_text(plan));
    let (approve, done) = (commands.plan("approve", session), commands.plan("done", session));
    let text = match name {
        "plan-on" => {
            let task = given("task").map_or_else(String::new, |task| format!(" for this task:\n\n{task}\n\n"));
            format!(
                "Before you change anything, write a plan with the plan tools of Planwright{task} Look at what you need to \
                 know first. When the plan is ready, tell me that it waits for my approval (`{approve}`), wait with \
                 plan_await_decision, and start only after I approved it."
            )
        }
        "plan-status" => {
            format!("Tell me in a few lines how this plan stands, what is done, and what comes next.\n\n{text}")
        }
        "plan-show" => format!("This is the plan as Planwright keeps it. Show it to me without changing it.\n\n{text}"),
        "plan-revise" => format!(
            "Change the plan and store it with the plan tools of Planwright; then it waits for my approval again.\n\nWhat is \
             to be different: {}\n\nThe plan as it is now:\n\n{text}",
            given("changes").unwrap_or_default()
        ),
        "plan-continue" => format!(
            "If the status of this plan is APPROVED or EXECUTING, carry it out from the first open step, and report each step \
             with plan_progress. Otherwise tell me what it waits for.\n\n{text}"
        ),
        "plan-done" => format!(
            "Report every step of this plan that you finished or gave up with plan_progress. Then tell me how it ended. I end \
             plan work with `{done}`.\n\n{text}"
        ),
        _ => format!(
            "Your context was shortened. This is the plan that you work by; continue it only as far as it is \
             approved.\n\n{text}"
        ),
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(Some(GetPromptResult::new(vec![message]).with_description(prompt.description)))
}

/// Whether the argument of a prompt names a plan.
pub(super) fn completes_plans(prompt: &str, argument: &str) -> bool {
    prompt == "plan-show" && argument == "plan"
}

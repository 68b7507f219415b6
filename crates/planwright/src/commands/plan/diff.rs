//! `plan diff`

use std::sync::Arc;

use planwright_core::plan::diff::PlanDiff;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};

use crate::cli::DiffArgs;
use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::terminal::diff;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &DiffArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let Compared { from, to, difference } = match &arguments.other {
        Some(other) => plans(context, plan, super::find(context, session, Some(other)).await?)?,
        None => versions(context, plan, arguments).await?,
    };
    let view =
        || json!({ "from": from.view(), "to": to.view(), "changes": difference.changes, "lines": difference.lines });
    context.screen.answer(view, || format!("{}{}", title(&from, &to), diff::render(&difference, context.screen.width)))
}

struct Compared {
    from: Side,
    to: Side,
    difference: PlanDiff,
}

/// One of the two texts that are compared.
enum Side {
    Nothing,
    Version {
        of: Arc<Plan>,
        version: u32,
    },
    /// What the plan says now, be it a version or a draft.
    Present {
        of: Arc<Plan>,
    },
}

fn plans(context: &Context, from: Arc<Plan>, to: Arc<Plan>) -> Result<Compared, Failure> {
    let difference = context.engine.history().diff_plans(&from, &to)?;
    Ok(Compared { from: Side::Present { of: from }, to: Side::Present { of: to }, difference })
}

async fn versions(context: &Context, plan: Arc<Plan>, arguments: &DiffArgs) -> Result<Compared, Failure> {
    let earlier = match (&plan.supersedes, arguments.from) {
        (Some(earlier), None) => Some(context.engine.plans().get(&plan.session, earlier).await?),
        (Some(_) | None, _) => None,
    };
    if plan.version == 0 && arguments.from.is_none() && arguments.to.is_none() {
        return match earlier {
            Some(earlier) => plans(context, earlier, plan),
            None => Err(Failure::not_found(format!(
                "Plan {} is still being drafted; it has no version yet that could be compared.",
                plan.number
            ))),
        };
    }
    let difference = context.engine.history().diff_versions(&plan, arguments.from, arguments.to).await?;
    let to = arguments.to.unwrap_or(plan.version);
    let from = match (arguments.from, earlier) {
        (Some(version), _) => Side::Version { of: plan.clone(), version },
        (None, Some(earlier)) if to <= 1 => Side::Present { of: earlier },
        (None, _) if to <= 1 => Side::Nothing,
        (None, _) => Side::Version { of: plan.clone(), version: to - 1 },
    };
    Ok(Compared { from, to: Side::Version { of: plan, version: to }, difference })
}

fn title(from: &Side, to: &Side) -> String {
    match (from, to) {
        (Side::Nothing, Side::Version { of, version }) => {
            diff::title(&format!("Plan {}: nothing", of.number), &format!("version {version}"))
        }
        (Side::Version { version: from, .. }, Side::Version { of, version: to }) => {
            diff::title(&format!("Plan {}: version {from}", of.number), &format!("version {to}"))
        }
        (from, to) => diff::title(&from.describe(), &to.describe()),
    }
}

impl Side {
    fn describe(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Version { of, version } => format!("plan {}, version {version}", of.number),
            Self::Present { of } if is_draft(of) => format!("plan {} as it is drafted", of.number),
            Self::Present { of } => format!("plan {}", of.number),
        }
    }

    fn view(&self) -> Value {
        let named =
            |plan: &Plan, version: Option<u32>| json!({ "id": plan.id, "number": plan.number, "version": version });
        match self {
            Self::Nothing => Value::Null,
            Self::Version { of, version } => named(of, Some(*version)),
            Self::Present { of } => named(of, (!is_draft(of)).then_some(of.version)),
        }
    }
}

/// What a draft says is no version yet.
fn is_draft(plan: &Plan) -> bool {
    plan.version == 0 || plan.status == PlanStatus::Collecting
}

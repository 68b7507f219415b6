//! Answers about plans, kept while the plan and everything else in the answer stay the same. The plan is read from the store for
//! every request; to compare it takes less time than to describe, write and hash it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::http::HeaderValue;
use planwright_core::choices::Activity;
use planwright_core::ids::PlanId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::policy::Policy;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

use super::app::App;
use super::idempotency::hashed;
use super::problem::ApiResult;
use crate::wire::{ApprovalNeedsView, PlanView};

/// How many bytes of answers and plans are kept.
const CAPACITY: u64 = 8 * 1024 * 1024;
/// How many answers the cache makes room for at first.
const EXPECTED: usize = 64;

/// What an answer about a plan says that is not in the plan itself.
#[derive(Debug, Clone)]
pub(super) struct PlanContext {
    activity: Option<Activity>,
    /// What an approval is checked with, if the plan waits for one.
    policy: Option<Arc<Policy>>,
}

impl PlanContext {
    pub(super) async fn of(app: &App, plan: &Plan) -> ApiResult<Self> {
        let activity = app.engine().plans().activity(&plan.session, plan).await?;
        let policy = match plan.status {
            PlanStatus::Ready => Some(app.engine().approvals().policy_in(&plan.session).await?),
            _ => None,
        };
        Ok(Self { activity, policy })
    }

    pub(super) fn view(&self, plan: &Plan) -> PlanView {
        let needs = self.policy.as_ref().map(|policy| ApprovalNeedsView::of(plan, &policy.approval));
        PlanView { needs, ..PlanView::of(plan, self.activity.as_ref()) }
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_policy = match (&self.policy, &other.policy) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_policy && self.activity == other.activity
    }
}

/// The bytes of an answer, and the `ETag` that changes with them.
#[derive(Debug, Clone)]
pub(super) struct PlanAnswer {
    pub(super) body: Bytes,
    pub(super) tag: HeaderValue,
}

impl PlanAnswer {
    pub(super) fn of(view: &PlanView) -> Self {
        let body = serde_json::to_vec(view).unwrap_or_default();
        let tag = format!("\"{}\"", &hashed([body.as_slice()])[..32]);
        let tag = HeaderValue::from_str(&tag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
        Self { body: body.into(), tag }
    }
}

struct KnownAnswer {
    plan: Arc<Plan>,
    context: PlanContext,
    answer: PlanAnswer,
}

#[derive(Clone)]
struct SizeInBytes;

impl Weighter<PlanId, KnownAnswer> for SizeInBytes {
    fn weight(&self, _: &PlanId, known: &KnownAnswer) -> u64 {
        (known.answer.body.len() + known.plan.size()) as u64
    }
}

pub(super) struct PlanAnswers(Mutex<Cache<PlanId, KnownAnswer, SizeInBytes>>);

impl Default for PlanAnswers {
    fn default() -> Self {
        Self(Mutex::new(Cache::with_weighter(EXPECTED, CAPACITY, SizeInBytes)))
    }
}

impl std::fmt::Debug for PlanAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanAnswers").field("plans", &self.lock().len()).finish()
    }
}

impl PlanAnswers {
    pub(super) fn answer(&self, plan: Arc<Plan>, context: PlanContext) -> PlanAnswer {
        let known = self.lock().get(&plan.id).and_then(|known| {
            let same = known.plan == plan && known.context.is_same(&context);
            same.then(|| known.answer.clone())
        });
        known.unwrap_or_else(|| {
            let answer = PlanAnswer::of(&context.view(&plan));
            let (id, kept) = (plan.id.clone(), answer.clone());
            self.lock().insert(id, KnownAnswer { plan, context, answer: kept });
            answer
        })
    }

    fn lock(&self) -> MutexGuard<'_, Cache<PlanId, KnownAnswer, SizeInBytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The store changes a plan in place if no other part of the process holds it. A copy takes time in proportion to the
//! steps, for each step.

use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use planwright_core::command::Command;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_engine::ledger::{Committed, Ledger, LedgerResult, Submission};
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};
use serde_json::json;

use super::approved;
use crate::test_tools::Prop;

/// Counts who holds the plan whenever something about its execution is submitted.
#[derive(Debug)]
struct CountsHolders {
    inner: Arc<dyn Ledger>,
    last: Mutex<Weak<Plan>>,
    holders: Mutex<Vec<usize>>,
}

#[async_trait]
impl ForwardingLedger for CountsHolders {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        if matches!(submission.command, Command::Execution(_)) {
            self.holders.lock().unwrap().push(self.last.lock().unwrap().strong_count());
        }
        let committed = self.inner.submit(submission).await?;
        *self.last.lock().unwrap() = committed.snapshot.plans.values().next().map(Arc::downgrade).unwrap_or_default();
        Ok(committed)
    }
}

#[tokio::test]
async fn only_the_store_holds_the_plan_while_the_outcome_of_a_step_is_written() {
    let prop = Prop::changing("prop");
    let calls = [1, 2, 3].map(|n| ("prop", json!({ "n": n })));
    let mut world = approved(&calls, |setup| setup.tool(&prop)).await;
    let (last, holders) = (Mutex::new(Weak::new()), Mutex::new(Vec::new()));
    let ledger = Arc::new(Forwarding(CountsHolders { inner: world.ledger().await, last, holders }));
    world.agent = world.setup.agent(ledger.clone(), world.model.clone());
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let holders = ledger.0.holders.lock().unwrap().clone();
    // The person is shown the plan as it began, so others hold it when the first step begins.
    let [_, outcomes @ ..] = holders.as_slice() else { panic!("no step began") };
    assert_eq!(outcomes, [1, 1, 1]);
    world.is_sound().await;
}

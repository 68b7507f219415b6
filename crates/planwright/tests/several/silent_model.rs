//! A model that is told to carry out an approved document and never reports a step. Its turn ends, the plan is paused, and
//! no server begins it again: not later, not after a restart, not after a stop and not because a person says something.

use serde_json::{Value, json};

use crate::program::{Address, Program};
use crate::provider::{Provider, Work};
use crate::stores::Store;
use crate::world::TIMEOUT;

const KEY: &str = "session-one";
/// The number of reminders that the setting allows here; another one than the default.
const NUDGES: usize = 2;
const SETTINGS: [(&str, &str); 2] = [("PLANWRIGHT_PLAN_NUDGES", "2"), ("PLANWRIGHT_SERVER_LEASE_SECONDS", "4")];

struct Stage {
    store: Store,
    provider: Provider,
    plan: Value,
    /// How many turns of other sessions were left to be taken over.
    left: usize,
}

impl Stage {
    /// A server, and a document that waits for approval.
    async fn drafted(store: Store, work: Work) -> (Self, Program) {
        let provider = Provider::working(work).await;
        let server = Program::asking(&store, &provider, &SETTINGS);
        server.at().open(KEY).await;
        server.at().post("/api/plans/enable", json!({ "sessionId": KEY })).await.with(200);
        let answer = server.at().say(KEY, "draft it", "draft").await.unwrap().with(200);
        let id = answer["plan"]["planId"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let plan = server.at().get(&format!("/api/plans/{id}?sessionId={KEY}")).await.with(200);
        (Self { store, provider, plan, left: 0 }, server)
    }

    fn path(&self, what: &str) -> String {
        format!("/api/plans/{}{what}", self.plan["id"].as_str().unwrap())
    }

    async fn approve(&self, at: Address) {
        let approval = json!({ "digest": self.plan["digest"], "sessionId": KEY });
        at.post(&self.path("/approve"), approval).await.with(200);
    }

    /// Turns that were begun to carry the document out.
    fn turns(&self) -> usize {
        self.provider.asked().iter().filter(|asked| asked.carries_out() && asked.results == 0).count()
    }

    async fn until_paused(&self, at: Address) {
        let looking = async {
            loop {
                let plan = at.get(&format!("{}?sessionId={KEY}", self.path(""))).await.with(200);
                assert!(self.turns() <= 1 + NUDGES, "it is begun again and again");
                if plan["activity"] == "paused" {
                    return plan;
                }
            }
        };
        let plan = tokio::time::timeout(TIMEOUT, looking).await.expect("it is paused");
        assert_eq!(plan["status"], "EXECUTING", "{plan}");
    }

    /// Lets the server take over twice what another process left in the middle of a turn. Each take-over needs two looks at
    /// everything that is unfinished, so the server has looked at the document several times, too.
    async fn let_it_look(&mut self, at: Address) {
        for _ in 0..2 {
            self.left += 1;
            let key = format!("left-behind-{}", self.left);
            at.open(&key).await;
            let mut dying = Program::asking(&self.store, &self.provider, &SETTINGS);
            self.provider.hold();
            let phrase = format!("look {key}");
            let (server, reply) = (dying.at(), phrase.clone());
            let saying = tokio::spawn({
                let key = key.clone();
                async move { server.say(&key, &reply, "once").await }
            });
            self.provider.wait_for(1, |asked| asked.phrase == phrase).await;
            let mut following = at.client().await;
            following.subscribe(&key, Some(0)).await;
            dying.kill();
            assert!(saying.await.unwrap().is_none(), "its server was killed");
            self.provider.release();
            following.next_of("turn_resumed").await;
            following.next_of("turn_ended").await;
        }
    }
}

async fn stays_paused(store: Store, work: Work, expected: usize) {
    let (mut stage, mut server) = Stage::drafted(store, work).await;
    stage.approve(server.at()).await;
    stage.until_paused(server.at()).await;
    let answer = server.at().say(KEY, "do nothing", "word").await.unwrap().with(200);
    assert_eq!(answer["reply"], "done: do nothing");
    stage.let_it_look(server.at()).await;
    assert_eq!(stage.turns(), expected, "it was begun again, by itself or by a person's words");
    stage.until_paused(server.at()).await;

    server.terminate();
    assert_eq!(server.ended().await, 0, "{}", server.log());
    let server = Program::asking(&stage.store, &stage.provider, &SETTINGS);
    stage.let_it_look(server.at()).await;
    assert_eq!(stage.turns(), expected, "a restart began it again");
    stage.until_paused(server.at()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_asks_is_reminded_as_often_as_the_setting_says_and_never_again() {
    stays_paused(Store::sqlite(), Work::Asks, 1 + NUDGES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_only_writes_a_file_is_reminded_as_often_and_never_again() {
    stays_paused(Store::sqlite(), Work::WritesAFile, 1 + NUDGES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_refuses_is_not_asked_again() {
    stays_paused(Store::sqlite(), Work::IsRefused, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_asks_is_not_begun_again_on_postgres() {
    stays_paused(Store::postgres().await, Work::Asks, 1 + NUDGES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stopped_stays_stopped() {
    let (mut stage, mut server) = Stage::drafted(Store::sqlite(), Work::Asks).await;
    stage.provider.hold();
    stage.approve(server.at()).await;
    stage.provider.wait_for(1, |asked| asked.carries_out()).await;
    server.at().say(KEY, "/stop", "stop").await.unwrap().with(200);
    stage.provider.release();
    stage.until_paused(server.at()).await;
    server.at().say(KEY, "do nothing", "word").await.unwrap().with(200);
    stage.let_it_look(server.at()).await;
    assert_eq!(stage.turns(), 1, "the stop was undone, by itself or by a person's words");

    // Killed, so that nothing is put in order on the way out.
    server.kill();
    let server = Program::asking(&stage.store, &stage.provider, &SETTINGS);
    stage.let_it_look(server.at()).await;
    assert_eq!(stage.turns(), 1, "a restart undid the stop");
    stage.until_paused(server.at()).await;

    // Only a person's word for this plan begins it again.
    server.at().post(&stage.path("/resume"), json!({ "sessionId": KEY })).await.with(200);
    stage.provider.wait_for(2, |asked| asked.carries_out()).await;
}

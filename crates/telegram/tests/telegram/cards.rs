//! The plan card and its buttons.

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::model::ModelMessage;
use planwright_core::plan::PlanStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::bot_api::SentMessage;
use serde_json::json;

use crate::world::{ADA, BOB, GROUP, STRANGER, World, plan};

const STEPS: &str = "- [ ] one\n- [ ] two";

/// Ada asks for a plan and gets its card.
async fn with_card(world: &World) -> SentMessage {
    world.api.say(ADA, "/plan on");
    world.api.say(ADA, "tidy up");
    card(world).await
}

async fn card(world: &World) -> SentMessage {
    world.api.wait_for(ADA, "a card", |message| message.labels().iter().any(|label| label.contains("Approve"))).await
}

async fn status(world: &World) -> PlanStatus {
    let session = world.session_of(ADA).await;
    world.agent.engine().plans().list(&session, None, 1).await.unwrap().items[0].status
}

fn done() -> Reply {
    Reply::call("plan_progress", json!({ "step": 1, "status": "done" }))
        .and_call("plan_progress", json!({ "step": 2, "status": "done" }))
}

#[tokio::test]
async fn a_plan_comes_as_a_card_and_a_button_approves_it() {
    let world = World::new([plan(STEPS), Reply::text("Look at it."), done(), Reply::text("All done.")]).await;
    let card = with_card(&world).await;
    let session = world.session_of(ADA).await;
    let ready = world.agent.engine().plans().active(&session).await.unwrap();
    for expected in ["Plan #1: Tidy up", "READY", "one", "two", &ready.digest().to_string()[..12]] {
        assert!(card.text.contains(expected), "{expected}: {}", card.text);
    }
    let open = card.buttons.iter().find(|(label, _)| label == "Open").unwrap();
    assert_eq!(open.1, format!("https://plans.example.org/p/{}", ready.id));
    for (label, data) in card.buttons.iter().filter(|(label, _)| label != "Open") {
        assert!(data.len() <= 64 && !data.contains(ready.id.as_str()), "{label}: {data}");
    }
    let press = world.api.press(ADA, &card, "Approve");
    world.finished(press).await;
    let approved = world.agent.engine().plans().get(&session, &ready.id).await.unwrap();
    assert_eq!(approved.status, PlanStatus::Completed);
    let by = &approved.approval.as_ref().unwrap().by;
    assert_eq!((by.name.as_str(), by.through.as_str()), ("person7", "telegram"));
    assert_eq!(by.presence.as_ref().unwrap().as_str(), "channel");
    // The card says so and has no buttons any more.
    world
        .api
        .wait_for(ADA, "the card is decided", |message| {
            message.id == card.id && message.text.contains("Approved by person7") && message.buttons.is_empty()
        })
        .await;
}

/// An approver answers for the user with a signed record.
#[tokio::test]
async fn where_a_verified_person_is_asked_for_only_the_buttons_of_a_bound_user_count() {
    const PASSPHRASE: &str = "correct horse battery";
    for (is_bound, expected) in [(false, PlanStatus::Ready), (true, PlanStatus::Completed)] {
        let model = ScriptedModel::new([plan(STEPS), Reply::text("Look at it."), done(), Reply::text("All done.")]);
        let verified = ApprovalPolicy::requiring(Require::Verified);
        let world = World::with(model, |setup| setup.policy.approval = verified).await;
        let (approvals, ada) = (world.agent.engine().approvals(), Actor::person("ada", "cli"));
        approvals.add(&ada, "ada", PASSPHRASE, None).await.unwrap();
        if is_bound {
            let key = approvals.unlock(&ada, "ada", PASSPHRASE).await.unwrap();
            approvals.bind_user(&ada, ADA, &key).await.unwrap();
        }
        let card = with_card(&world).await;
        let session = world.session_of(ADA).await;
        if !is_bound {
            // What is typed carries no signature, either, and leads to what does.
            world.api.say(ADA, "/plan approve 1");
            let way = format!("planwright plan approve 1 --session {session}");
            let refusal = world.api.wait_for_text(ADA, &way).await;
            assert!(refusal.text.contains("in the dashboard at /p/"), "{}", refusal.text);
        }
        let press = world.api.press(ADA, &card, "Approve");
        world.finished(press).await;
        assert_eq!(status(&world).await, expected, "bound: {is_bound}");
        let plans = world.agent.engine().plans().list(&session, None, 1).await.unwrap();
        let plan = world.agent.engine().plans().get(&session, &plans.items[0].id).await.unwrap();
        let by = plan.approval.as_ref().and_then(|approval| approval.by.presence.clone());
        let recorded = is_bound.then(|| "as an allowed user of the chat service, bound by ada".to_owned());
        assert_eq!(by.map(|presence| presence.to_string()), recorded);
        assert!(approvals.audit(None).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_button_works_for_its_person_and_once() {
    let world = World::new([plan(STEPS), Reply::text("Look."), done(), Reply::text("All done.")]).await;
    let card = with_card(&world).await;
    let (_, data) = card.buttons.iter().find(|(label, _)| label.contains("Approve")).unwrap().clone();
    for (user, expected) in [(STRANGER, "private"), (BOB, "another person")] {
        world.api.press_data(user, &card, &data);
        world
            .api
            .wait(expected, |api| {
                api.calls("answerCallbackQuery")
                    .into_iter()
                    .find(|call| call["text"].as_str().is_some_and(|text| text.contains(expected)))
            })
            .await;
        assert_eq!(status(&world).await, PlanStatus::Ready);
    }
    for guess in ["AAAAAAAAAAAAAAAAAAAAAAAA", "", "approve", "../button"] {
        world.api.press_data(ADA, &card, guess);
    }
    world
        .api
        .wait("guesses are refused", |api| {
            let told = api.calls("answerCallbackQuery");
            (told.iter().filter(|call| call["text"] == "This button is not valid any more.").count() == 4).then_some(())
        })
        .await;
    assert_eq!(status(&world).await, PlanStatus::Ready);
    let press = world.api.press_data(ADA, &card, &data);
    world.finished(press).await;
    assert_eq!(status(&world).await, PlanStatus::Completed);
    // Replayed, it does nothing.
    let requests = world.model.requests().len();
    world.api.press_data(ADA, &card, &data);
    world
        .api
        .wait("the replay is refused", |api| {
            api.calls("answerCallbackQuery").into_iter().find(|call| call["text"] == "This button was used already.")
        })
        .await;
    assert_eq!(world.model.requests().len(), requests);
}

#[tokio::test]
async fn a_button_of_an_old_version_brings_the_new_card() {
    let world = World::new([
        plan(STEPS),
        Reply::text("Look."),
        plan("- [ ] one\n- [ ] two\n- [ ] three"),
        Reply::text("Look again."),
    ])
    .await;
    let old = with_card(&world).await;
    world.api.say(ADA, "add a third step");
    let new = world
        .api
        .wait_for(ADA, "the new card", |message| {
            message.id != old.id && message.text.contains("three") && !message.buttons.is_empty()
        })
        .await;
    let (_, data) = old.buttons.iter().find(|(label, _)| label.contains("Approve")).unwrap();
    world.api.press_data(ADA, &old, data);
    let fresh = world
        .api
        .wait_for(ADA, "a fresh card", |message| {
            message.id > new.id && message.text.contains("three") && !message.buttons.is_empty()
        })
        .await;
    assert!(fresh.text.contains("version 2"), "{}", fresh.text);
    assert_eq!(status(&world).await, PlanStatus::Ready);
}

#[tokio::test]
async fn changes_are_asked_for_by_a_reply() {
    let world = World::new([plan(STEPS), Reply::text("Look."), plan("- [ ] only one"), Reply::text("Changed.")]).await;
    let card = with_card(&world).await;
    world.api.press(ADA, &card, "Request changes");
    let prompt = world.api.wait_for(ADA, "a question", |message| message.force_reply).await;
    world.api.reply(ADA, prompt.id, "leave out two");
    world
        .api
        .wait_for(ADA, "the changed plan", |message| message.text.contains("only one") && !message.buttons.is_empty())
        .await;
    assert!(world.heard().iter().any(|expected| expected.contains("leave out two")), "{:?}", world.heard());
}

/// In a group another allowed person can reply to the question. That is a message of their own and changes nothing.
#[tokio::test]
async fn only_the_person_who_was_asked_says_what_to_change() {
    let model = ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::ToolResult { .. }) => Reply::text("Look."),
        Some(ModelMessage::User { text, .. }) if text.contains("drop everything") => Reply::text("I read that, Bob."),
        Some(ModelMessage::User { text, .. }) if text.contains("leave out two") => plan("- [ ] only one"),
        Some(ModelMessage::User { .. } | ModelMessage::Assistant { .. }) | None => plan(STEPS),
    });
    let world = World::with(model, |_| {}).await;
    world.api.say_in_group(GROUP, ADA, "/plan on");
    world.api.say_in_group(GROUP, ADA, "tidy up");
    let wanted = |message: &SentMessage| message.labels().iter().any(|label| label.contains("Request changes"));
    let card = world.api.wait_for(GROUP, "a card", wanted).await;
    let digest = async || world.agent.engine().plans().active(&world.session_of(GROUP).await).await.unwrap().digest();
    let shown = digest().await;
    world.api.press(ADA, &card, "Request changes");
    let prompt = world.api.wait_for(GROUP, "a question", |message| message.force_reply).await;
    let reply = world.api.reply_in_group(GROUP, BOB, prompt.id, "drop everything");
    world.finished(reply).await;
    world.api.wait_for_text(GROUP, "I read that, Bob.").await;
    assert_eq!(digest().await, shown);
    let feedback = world.agent.engine().plans().active(&world.session_of(GROUP).await).await.unwrap();
    assert!(feedback.feedback.is_none(), "{:?}", feedback.feedback);
    let reply = world.api.reply_in_group(GROUP, ADA, prompt.id, "leave out two");
    world.finished(reply).await;
    assert_ne!(digest().await, shown);
}

#[tokio::test]
async fn reject_ends_the_plan() {
    let world = World::new([plan(STEPS), Reply::text("Look.")]).await;
    let card = with_card(&world).await;
    world.api.press(ADA, &card, "Reject");
    world
        .api
        .wait_for(ADA, "the card says so", |message| {
            message.id == card.id && message.text.contains("Rejected by person7")
        })
        .await;
    assert_eq!(status(&world).await, PlanStatus::Rejected);
}

#[tokio::test]
async fn a_decision_made_elsewhere_updates_the_card() {
    let world = World::new([plan(STEPS), Reply::text("Look.")]).await;
    let card = with_card(&world).await;
    let session = world.session_of(ADA).await;
    let ready = world.agent.engine().plans().active(&session).await.unwrap();
    let by = planwright_core::actor::Actor::person("carol", "web");
    world.agent.engine().plans().reject(&session, &by, &ready.id, None).await.unwrap();
    world
        .api
        .wait_for(ADA, "the card says so", |message| {
            message.id == card.id
                && message.text.contains("Rejected by carol through web")
                && message.buttons.is_empty()
        })
        .await;
}

#[tokio::test]
async fn a_long_plan_is_attached_whole() {
    let steps: Vec<_> = (0..200).map(|number| format!("- [ ] step number {number} with some words to do")).collect();
    let markdown = steps.join("\n");
    let world = World::new([plan(&markdown), Reply::text("Look.")]).await;
    let card = with_card(&world).await;
    assert!(card.text.contains("The whole plan is in the file above"), "{}", card.text);
    let file = world.api.wait_for(ADA, "the plan", |message| message.document.is_some()).await;
    let (name, content) = file.document.unwrap();
    assert_eq!((name.as_str(), content.trim()), ("plan-1.md", markdown.as_str()));
    assert!(file.id < card.id);
}

#[tokio::test]
async fn only_what_this_chat_was_shown_is_approved_in_words() {
    let world = World::new([plan(STEPS), Reply::text("Look.")]).await;
    with_card(&world).await;
    let session = world.session_of(ADA).await;
    // The plan changes at another place, and the person types the approval here.
    let by = planwright_core::actor::Actor::agent("scripted", "mcp");
    let newer = json!({ "plan_markdown": "- [ ] something else", "title": "Tidy up" });
    PlanTools::new(world.agent.engine())
        .call(&session, &by, "plan_set_content", newer.as_object().unwrap().clone())
        .await
        .unwrap();
    world.api.say(ADA, "/plan approve");
    world.api.wait_for_text(ADA, "It has changed since you saw it").await;
    assert_eq!(status(&world).await, PlanStatus::Ready);
}

//! Which session a person is in, and sessions that come and go.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::ChatLocation;
use planwright_core::session::{Channel, TransportChat};
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::set;
use crate::world::{World, events, person, session};

async fn arrive(world: &World) -> ChatLocation {
    let transport = TransportChat("cli:tester".to_owned());
    world.agent.chats().arrive(&transport, Channel::Cli, &person()).await.unwrap()
}

/// Types it where the person is now.
async fn send_at(world: &World, place: &ChatLocation, text: &str) -> planwright_agent::session::outcome::Answer {
    world.agent.type_text(place, &person(), text, &Watcher::none()).await.unwrap()
}

#[tokio::test]
async fn who_arrives_is_where_they_were_last() {
    let world = World::new([]).await;
    let first = arrive(&world).await;
    assert_eq!(arrive(&world).await, first, "nothing new is begun");
    let new = send_at(&world, &first, "/new").await;
    assert_ne!(new.session, first.session);
    assert!(new.reply.contains(&format!("/switch {}", first.session.conversation)), "{}", new.reply);
    assert_eq!(arrive(&world).await.session, new.session);
    let back = send_at(&world, &arrive(&world).await, &format!("/switch {}", first.session.conversation)).await;
    assert_eq!((back.session, arrive(&world).await), (first.session.clone(), first));
}

#[tokio::test]
async fn switching_to_a_missing_session_or_one_of_another_channel_is_refused() {
    let world = World::new([]).await;
    let here = arrive(&world).await;
    let web = "web:session-web".parse().unwrap();
    world.engine().sessions().open(&web, &person()).await.unwrap();
    for key in ["session-web", "nothing-there"] {
        let answer = send_at(&world, &here, &format!("/switch {key}")).await;
        assert!(answer.refused() && answer.session == here.session, "{}", answer.reply);
    }
    assert_eq!(arrive(&world).await, here);
    assert!(events(world.engine(), &session("nothing-there")).await.is_empty());
}

#[tokio::test]
async fn the_sessions_of_this_channel_are_listed_with_what_they_began_with() {
    let world = World::new([Reply::text("Hello.")]).await;
    world.say("My **first** words\nand more").await;
    world.engine().sessions().open(&"web:session-web".parse().unwrap(), &person()).await.unwrap();
    world.engine().sessions().open(&session("session-two"), &person()).await.unwrap();
    let list = world.send("/sessions").await.reply;
    assert!(list.contains(r"- `session-one` “My \*\*first\*\* words”") && list.contains("← here"), "{list}");
    assert!(list.contains("- `session-two`") && !list.contains("session-web"), "{list}");
}

#[tokio::test]
async fn a_deleted_session_takes_everything_along_and_the_person_is_where_they_were_before() {
    let world = World::new([
        set("- [ ] one").and_call("write_file", json!({"path": "a.txt", "content": "one"})),
        Reply::text("Done."),
    ])
    .await;
    let before = arrive(&world).await;
    let new = ChatLocation { session: send_at(&world, &before, "/new").await.session, ..before.clone() };
    send_at(&world, &new, "/plan on").await;
    send_at(&world, &new, "Plan it, and write it down").await;
    let plan = world.engine().plans().active(&new.session).await.unwrap().id.clone();
    let files = world.folder.path().join("users").join(new.session.folder_name());
    assert!(files.join("files/a.txt").exists());
    world.agent.delete(&new.session, &person()).await.unwrap();
    assert!(events(world.engine(), &new.session).await.is_empty());
    assert_eq!(world.engine().ledger().session_of(&plan).await.unwrap(), None);
    assert!(!files.exists());
    assert_eq!(arrive(&world).await, before);
    let gone = world.agent.send(&new.session, &person(), "Still there?", &Watcher::none()).await.unwrap_err();
    assert!(gone.to_string().contains("no session"), "{gone}");
    assert!(world.agent.delete(&new.session, &person()).await.is_err(), "it is not there any more");
    world.agent.delete(&before.session, &person()).await.unwrap();
    let anew = arrive(&world).await;
    assert!(anew.session != before.session && anew.session != new.session);
    world.is_sound().await;
}

#[tokio::test]
async fn a_session_that_is_deleted_and_begun_again_knows_nothing_of_the_first() {
    let world = World::new([Reply::text("Noted."), Reply::text("Which colour?")]).await;
    world.say("My colour is blue").await;
    world.agent.delete(&world.session, &person()).await.unwrap();
    world.engine().sessions().open(&world.session, &person()).await.unwrap();
    world.say("What is my colour?").await;
    assert_eq!(crate::world::script(&world.sent(2)), ["user: What is my colour?"]);
}

#[tokio::test]
async fn a_session_is_deleted_in_the_middle_of_a_turn() {
    let world = World::new([Reply::hang()]).await;
    let turn = world.say_in_background("Hello");
    world.model.asked(1).await;
    let waiting = world.say_in_background("And another");
    world.agent.delete(&world.session, &person()).await.unwrap();
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    // What waited was answered before or found nothing; it did not bring the session back.
    let _ = waiting.await.unwrap();
    assert!(events(world.engine(), &world.session).await.is_empty());
    world.is_sound().await;
}

#[tokio::test]
async fn another_process_deletes_a_session_that_is_worked_on() {
    let world = World::new([Reply::hang()]).await;
    let turn = world.say_in_background("Hello");
    world.model.asked(1).await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    other.delete(&world.session, &person()).await.unwrap();
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert!(events(world.engine(), &world.session).await.is_empty());
    world.is_sound().await;
}

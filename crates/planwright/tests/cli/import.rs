use serde_json::json;

use crate::world::{World, fixture};

fn import(world: &World, name: &str, more: &str) -> crate::world::Ran {
    world.run(&format!("import {} {more}", fixture(name).display()))
}

#[test]
fn all_three_versions_are_taken_and_the_second_time_changes_nothing() {
    let world = World::new();
    for (name, taken, skipped) in [("plans-v1.json", 2, 1), ("plans-v2.json", 2, 1), ("plans-v3.json", 3, 3)] {
        let first = import(&world, name, "--json").done().json();
        assert_eq!(first["taken"].as_array().unwrap().len(), taken, "{name}: {first:#}");
        assert_eq!(first["skipped"].as_array().unwrap().len(), skipped, "{name}: {first:#}");
        assert_eq!(first["alreadyHere"], json!([]));
        let before = world.json("sessions");
        let again = import(&world, name, "--json").done().json();
        assert_eq!(again["taken"], json!([]));
        assert_eq!(again["alreadyHere"].as_array().unwrap().len(), taken);
        assert_eq!(again["skipped"], first["skipped"]);
        assert_eq!(world.json("sessions"), before);
    }
    world.run("verify").done().says("Every journal is whole");
}

#[test]
fn people_are_told_what_became_of_each_plan() {
    let world = World::new();
    import(&world, "plans-v3.json", "")
        .done()
        .says("3 plans taken over")
        .says("plan 1 of web:k3yk3y8x")
        .says("it was EXECUTING and is PARTIALLY_COMPLETED now")
        .says("3 plans skipped")
        .says("number 4 in the file");
    import(&world, "plans-v3.json", "")
        .done()
        .says("0 plans taken over")
        .says("3 plans here already, left as they are");
    world.run("plan show 1 --session web:k3yk3y8x").done().says("PARTIALLY_COMPLETED");
}

#[test]
fn older_plans_live_in_sessions_of_the_channel_legacy() {
    let world = World::new();
    import(&world, "plans-v1.json", "").done().says("legacy:42");
    world.run("plan list --session legacy:42").done().says("Send the report");
    // A short key of an older conversation can be read by itself.
    world.run("plan list --session 42").done();
}

#[test]
fn from_stdin_too() {
    let world = World::new();
    let text = std::fs::read_to_string(fixture("plans-v2.json")).unwrap();
    world.run_with_input("import -", &text).done().says("2 plans taken over");
}

#[test]
fn what_is_not_a_list_of_plans_is_refused_as_a_whole() {
    let world = World::new();
    let path = world.write("odd.json", "{\"plans\": []}");
    world.run(&format!("import {}", path.display())).exits(2).complains("not a JSON array");
    std::fs::write(&path, [b'[', 0xff, b']']).unwrap();
    world.run(&format!("import {}", path.display())).exits(2).complains("cannot be read").complains("UTF-8");
    world.run("import nowhere.json").exits(2).complains("nowhere.json cannot be read");
    // Nothing in it can be used.
    world.run_with_input("import -", "[{\"id\": \"x\"}]").exits(2).says("1 plan skipped");
    world.run_with_input("import -", "[]").done();
}

#[test]
fn what_is_here_already_is_shown_as_it_is_stored() {
    let world = World::new();
    let plan = |title: &str, text: &str, chat: &str| {
        json!([{
            "id": "d1b2c3d4-0001", "title": title, "markdown": text, "status": "EXECUTING", "chatId": chat,
            "channelType": "web", "transportChatId": "socket-7", "steps": [],
            "createdAt": "2025-09-01T10:00:00Z", "updatedAt": "2025-09-01T11:00:00Z",
        }])
        .to_string()
    };
    let first = plan("", "# Words of its own\n\n- [ ] copy\n", "k3yk3y8x");
    world.run_with_input("import -", &first).done().says("plan 1 of web:k3yk3y8x  Words of its own").says("EXECUTING");
    world.run("plan list").done().says("Words of its own");
    let other = plan("Another title", "other", "an0therkey");
    world
        .run_with_input("import -", &other)
        .done()
        .says("1 plan here already, left as it is\n")
        .says("plan 1 of web:k3yk3y8x  Words of its own")
        .never_says("Another title")
        .never_says("EXECUTING");
    let here = &world.run_with_input("import - --json", &other).done().json()["alreadyHere"][0];
    assert_eq!((&here["title"], &here["notes"]), (&json!("Words of its own"), &json!([])));
    assert_eq!((&here["sessionId"], &here["status"]), (&json!("k3yk3y8x"), &json!("PARTIALLY_COMPLETED")));
}

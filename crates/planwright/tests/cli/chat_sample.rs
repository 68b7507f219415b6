//! The sample project of the rehearsal: what a person sees in their first minutes, with real files, a real test and a question.
#![cfg(target_os = "linux")]

use crate::screen_model::InlineChat;
use crate::world::World;

const SESSION: &str = "cli:session-one";

#[test]
fn the_rehearsal_carries_the_sample_project_out() {
    let world = World::new();
    if !world.has_sandbox() {
        return;
    }
    let mut chat = InlineChat::start(&world, 100, "--session session-one", &[]);
    chat.sees("/plan mend the sample project");
    chat.prompt();
    chat.type_in("/plan mend the sample project\r");
    chat.sees("Mend the sample project");
    chat.sees("a approve");
    chat.type_in("a");
    // The test fails once, is mended, and the person is asked once.
    chat.sees("not ok: it says 'Hello, world' and not 'Hello, Ada'");
    chat.sees("Which word shall the sample project greet with?");
    chat.sees("› write a message");
    chat.type_in("3\r");
    // An answer that is typed at once may have come before the person could read the question.
    let (done, again) = ("The sample project is mended", "press Enter to send it as your answer");
    chat.waits("an answer", |screen| screen.contains(done) || screen.contains(again));
    if chat.screen().contains(again) {
        chat.type_in("\r");
    }
    chat.sees(done);
    chat.prompt();
    chat.quit();
    let plan = world.json(&format!("plan show 1 --session {SESSION}"));
    assert_eq!(plan["status"], "COMPLETED");
    assert_eq!(plan["steps"][1]["evidence"], "the test says: ok: Hello, Ada");
    assert_eq!(plan["steps"][2]["evidence"], "the test says: ok: Ahoy, Ada");
    let files = world.run(&format!("plan changes 1 --session {SESSION}")).done();
    files.says("sample/greet.sh").says("sample/test.sh").says("Ahoy");
}

//! Who steps can be given to, and what makes a specialist.

use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::refusal::RefusalCode;

fn specialist(name: &str, about: &str, prompt: &str) -> Specialist {
    Specialist {
        name: name.to_owned(),
        about: about.to_owned(),
        prompt: prompt.to_owned(),
        options: Default::default(),
    }
}

#[track_caller]
fn refused(made: impl IntoIterator<Item = Specialist>, expected: &str) {
    let refusal = AgentRegistry::new(made).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::InvalidArgument);
    assert!(refusal.message.contains(expected), "{expected:?} is not in {:?}", refusal.message);
}

#[test]
fn a_prompt_file_says_what_its_specialist_is_good_at_and_then_how_it_works() {
    for (text, about, prompt) in [
        ("# Bakes\n\nSlowly.\nAnd well.\n", "Bakes", "Slowly.\nAnd well."),
        ("\n\n  ## Bakes  \nSlowly.", "Bakes", "Slowly."),
        ("\u{feff}# Bakes\r\n\r\nSlowly.\r\n", "Bakes", "Slowly."),
        ("Bakes\n# Slowly\n", "Bakes", "# Slowly"),
        ("Bakes", "Bakes", "Bakes"),
        ("#Bakes\n \n", "Bakes", "Bakes"),
        ("", "", ""),
    ] {
        assert_eq!(Specialist::from_text("baker", text), specialist("baker", about, prompt), "{text:?}");
    }
}

#[test]
fn what_is_no_specialist_is_refused() {
    let most = "n".repeat(64);
    AgentRegistry::new([specialist(&most, "a", "p")]).unwrap();
    AgentRegistry::new([specialist("pastry cook ⚠\u{fe0f}", &"ż".repeat(200), &"p".repeat(32 * 1024))]).unwrap();
    for (name, about, prompt, expected) in [
        ("", "a", "p", "`` is not a name"),
        (" ", "a", "p", "is not a name"),
        (" cook", "a", "p", "is not a name"),
        ("cook\n", "a", "p", "is not a name"),
        ("co\nok", "a", "p", "is not a name"),
        ("co\tok", "a", "p", "is not a name"),
        ("co\u{202e}ok", "a", "p", "is not a name"),
        (&"n".repeat(65), "a", "p", "at most 64 characters"),
        ("planner", "a", "p", "`planner` is always there"),
        ("cook", " \n", "p", "the line about `cook` is blank"),
        ("cook", "a\nb", "p", "one line of at most 200 characters"),
        ("cook", "a\u{2028}b", "p", "one line of at most 200 characters"),
        ("cook", &"a".repeat(201), "p", "one line of at most 200 characters"),
        ("cook", "a", " \n", "the prompt of `cook` is blank"),
        ("cook", "a", &"p".repeat(32 * 1024 + 1), "at most 32768 are taken"),
    ] {
        refused([specialist(name, about, prompt)], expected);
    }
    refused([], "at least one agent is needed");
    let twice = [specialist("cook", "a", "p"), specialist("cook", "b", "q")];
    refused(twice, "`cook` is listed twice");
}

#[test]
fn the_usual_ones_have_texts_of_their_own() {
    let usual = AgentRegistry::default();
    assert_eq!(AgentRegistry::new(usual.specialists().to_vec()).as_ref(), Ok(&usual));
    assert_eq!(usual.names(), "coder, tester, reviewer, researcher, architect, writer");
    for each in usual.specialists() {
        assert_eq!(usual.get(&each.name), Some(each));
        assert_eq!(Specialist::named(&each.name), *each);
        assert!(each.prompt.contains(&format!("You are the {}.", each.name)), "{}", each.prompt);
        assert!(each.prompt.contains("Your report"), "{}", each.prompt);
        usual.assignable(&each.name).unwrap();
    }
    assert_eq!(usual.get("planner"), None);
}

#[test]
fn a_name_alone_makes_a_specialist() {
    let cook = Specialist::named("cook");
    cook.check().unwrap();
    assert_eq!(cook.about, "Does what a cook does");
    assert!(cook.prompt.starts_with("You are the cook.") && !cook.prompt.contains('{'), "{}", cook.prompt);
    assert_eq!(Specialist::built_in("cook"), None);
}

//! What people type and how it is read.

mod commands;

use planwright_core::command::StuckChoice;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::ConversationKey;
use planwright_core::slash::{Comparison, Mistake, ParsedInput, PlanCommand, SlashCommand, ToolsCommand};
use planwright_core::slash::{completions, help, offered, parse};
use proptest::prelude::*;

use commands::{any_command, any_line};

fn number(number: u32) -> Option<PlanReference> {
    Some(PlanReference::Number(number))
}

fn piece(text: &str) -> Option<PlanReference> {
    Some(PlanReference::Piece(text.to_owned()))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn only(positions: &[usize]) -> Selection {
    Selection::Only(positions.iter().copied().collect())
}

fn skip(positions: &[usize]) -> Selection {
    Selection::Skip(positions.iter().copied().collect())
}

fn mistake(text: &str) -> Mistake {
    match parse(text) {
        ParsedInput::Refused(mistake) => mistake,
        other => panic!("{text:?} was taken: {other:?}"),
    }
}

#[test]
fn messages() {
    for (text, expected) in [
        ("", ""),
        ("hello", "hello"),
        ("  hello\n", "  hello\n"),
        ("see /plan on", "see /plan on"),
        ("line\n/plan on", "line\n/plan on"),
        ("/etc/passwd is broken", "/etc/passwd is broken"),
        ("/usr/bin", "/usr/bin"),
        ("/plan/on", "/plan/on"),
        ("/srv/", "/srv/"),
        ("/s/old/new/g", "/s/old/new/g"),
        ("/* a comment */", "/* a comment */"),
        ("/2 of them", "/2 of them"),
        ("/ plan on", "/ plan on"),
        ("/> is not closed", "/> is not closed"),
        ("//plan on", "/plan on"),
        (" //plan on", "/plan on"),
        ("///", "//"),
        ("//etc/passwd\nis broken", "/etc/passwd\nis broken"),
    ] {
        assert_eq!(parse(text), ParsedInput::Message(expected), "{text:?}");
    }
}

#[test]
fn plan_commands() {
    use PlanCommand::*;
    let approve = |plan, selection, note| Approve { plan, selection, step_by_step: false, note };
    let by_step = |plan, selection, note| Approve { plan, selection, step_by_step: true, note };
    let about = |text: &str| About(text.to_owned());
    for (text, expected) in [
        ("/plan", Status),
        ("  /plan  \n", Status),
        ("/PLAN Status", Status),
        ("/plan@PlanwrightBot", Status),
        ("/plan on", On { style: None }),
        ("/plan@MyBot on", On { style: None }),
        ("/plan   ON\tCollect ", On { style: Some(PlanStyle::Collect) }),
        ("/plan on document", On { style: Some(PlanStyle::Document) }),
        ("/plan on build", On { style: Some(PlanStyle::Build) }),
        ("/plan off", Off),
        ("/plan done", Done),
        ("/plan show", Show { plan: None }),
        ("/plan show 3", Show { plan: number(3) }),
        ("/plan show 0190ab", Show { plan: piece("0190ab") }),
        ("/plan show checkout-redesign", Show { plan: piece("checkout-redesign") }),
        ("/plan resume", Resume { plan: None, choice: None }),
        ("/plan resume 12", Resume { plan: number(12), choice: None }),
        ("/plan resume 12 retry", Resume { plan: number(12), choice: Some(StuckChoice::Retry) }),
        ("/plan resume Skip", Resume { plan: None, choice: Some(StuckChoice::Skip) }),
        ("/plan resume --stop", Resume { plan: None, choice: Some(StuckChoice::Stop) }),
        ("/plan export 3", Export { plan: number(3) }),
        ("/plan approve", approve(None, Selection::All, None)),
        ("/plan approve 3", approve(number(3), Selection::All, None)),
        ("/plan approve 0190-aaaa", approve(piece("0190-aaaa"), Selection::All, None)),
        ("/plan approve only 1,3", approve(None, only(&[1, 3]), None)),
        ("/plan approve 3 only 1,3 -- looks fine", approve(number(3), only(&[1, 3]), some("looks fine"))),
        ("/plan approve 3 only 1, 3", approve(number(3), only(&[1, 3]), None)),
        ("/plan approve 3 only 3 , 1,1", approve(number(3), only(&[1, 3]), None)),
        ("/plan approve 3 Only 1-3,5", approve(number(3), only(&[1, 2, 3, 5]), None)),
        ("/plan approve 3 only 1 – 3", approve(number(3), only(&[1, 2, 3]), None)),
        ("/plan approve 3 --skip 2", approve(number(3), skip(&[2]), None)),
        ("/plan approve --only 2", approve(None, only(&[2]), None)),
        ("/plan approve —only 2", approve(None, only(&[2]), None)),
        ("/plan approve skip 2 -- ", approve(None, skip(&[2]), None)),
        (
            "/plan approve -- only if 2 -- and 3 --\nhold",
            approve(None, Selection::All, some("only if 2 -- and 3 --\nhold")),
        ),
        ("/plan approve 3 — fine", approve(number(3), Selection::All, some("fine"))),
        ("/plan approve step by step", by_step(None, Selection::All, None)),
        ("/plan approve 3 Step  by\tSTEP", by_step(number(3), Selection::All, None)),
        ("/plan approve 3 --step-by-step", by_step(number(3), Selection::All, None)),
        ("/plan approve 3 only 1,3 step by step -- fine", by_step(number(3), only(&[1, 3]), some("fine"))),
        ("/plan approve skip 2 step by step", by_step(None, skip(&[2]), None)),
        ("/plan approve -- step by step", approve(None, Selection::All, some("step by step"))),
        ("/plan reject", Reject { plan: None, reason: None }),
        ("/plan reject 3", Reject { plan: number(3), reason: None }),
        ("/plan reject #3 too risky", Reject { plan: number(3), reason: some("too risky") }),
        ("/plan reject too risky", Reject { plan: None, reason: some("too risky") }),
        ("/plan reject because it is wrong", Reject { plan: None, reason: some("because it is wrong") }),
        ("/plan reject facade is ugly", Reject { plan: None, reason: some("facade is ugly") }),
        ("/plan reject a-bad-cafe for us", Reject { plan: None, reason: some("a-bad-cafe for us") }),
        ("/plan reject follow-up needed", Reject { plan: None, reason: some("follow-up needed") }),
        ("/plan reject 100% wrong", Reject { plan: None, reason: some("100% wrong") }),
        ("/plan reject 0190ab wrong", Reject { plan: piece("0190ab"), reason: some("wrong") }),
        ("/plan reject -- 3 is wrong", Reject { plan: None, reason: some("3 is wrong") }),
        ("/plan reject #3", Reject { plan: number(3), reason: None }),
        ("/plan reject 202401", Reject { plan: number(202_401), reason: None }),
        ("/plan reject 0190a- wrong", Reject { plan: piece("0190a-"), reason: some("wrong") }),
        ("/plan reject #three is wrong", Reject { plan: None, reason: some("#three is wrong") }),
        ("/plan reject #0 is wrong", Reject { plan: None, reason: some("#0 is wrong") }),
        ("/plan reject #0190ab wrong", Reject { plan: None, reason: some("#0190ab wrong") }),
        ("/plan reject 1, 2 and 3 are wrong", Reject { plan: None, reason: some("1, 2 and 3 are wrong") }),
        ("/plan reject #3 -- too risky", Reject { plan: number(3), reason: some("too risky") }),
        ("/plan revise 2 -- use a view", Revise { plan: number(2), feedback: "use a view".into() }),
        ("/plan revise -- 2 use a view", Revise { plan: None, feedback: "2 use a view".into() }),
        ("/plan revise 1. Use a view", Revise { plan: None, feedback: "1. Use a view".into() }),
        ("/plan show #3", Show { plan: number(3) }),
        ("/plan approve #3 skip 2 -- fine", approve(number(3), skip(&[2]), some("fine"))),
        ("/plan cancel #3 -- not needed", Cancel { plan: number(3), reason: some("not needed") }),
        ("/plan diff #2 3", {
            Diff(Comparison::Plans { first: PlanReference::Number(2), second: PlanReference::Number(3) })
        }),
        ("/plan reject 3 -- too -- risky", Reject { plan: number(3), reason: some("too -- risky") }),
        ("/plan reject follow-up -- no", Reject { plan: piece("follow-up"), reason: some("no") }),
        ("/plan reject too risky -- really", Reject { plan: None, reason: some("too risky -- really") }),
        ("/plan revise #2 use a view", Revise { plan: number(2), feedback: "use a view".into() }),
        ("/plan revise use a view", Revise { plan: None, feedback: "use a view".into() }),
        (
            "/plan revise #2\nuse a view,\nthen stop",
            Revise { plan: number(2), feedback: "use a view,\nthen stop".into() },
        ),
        ("/plan cancel", Cancel { plan: None, reason: None }),
        ("/plan cancel 3", Cancel { plan: number(3), reason: None }),
        ("/plan cancel 3 -- not needed", Cancel { plan: number(3), reason: some("not needed") }),
        ("/plan cancel -- not needed", Cancel { plan: None, reason: some("not needed") }),
        ("/plan diff", Diff(Comparison::Versions { plan: None })),
        ("/plan diff 3", Diff(Comparison::Versions { plan: number(3) })),
        ("/plan diff 2 3", {
            Diff(Comparison::Plans { first: PlanReference::Number(2), second: PlanReference::Number(3) })
        }),
        ("/plan move the shop", about("move the shop")),
        ("/plan Move the shop\n\nand keep /all of it", about("Move the shop\n\nand keep /all of it")),
        ("/plan -- show me the way", about("show me the way")),
        ("/plan — on", about("on")),
        ("/plan -- -- odd", about("-- odd")),
        ("/plan a -- b", about("a -- b")),
    ] {
        assert_eq!(parse(text), ParsedInput::Command(SlashCommand::Plan(expected)), "{text:?}");
    }
}

#[test]
fn other_commands() {
    use SlashCommand::*;
    let key = ConversationKey::existing("k3yk3y8x").unwrap();
    for (text, expected) in [
        ("/plans", Plans),
        ("/new", New),
        ("/sessions", Sessions),
        ("/switch k3yk3y8x", Switch { key }),
        ("/reset", Reset),
        ("/Compact", Compact),
        (" /stop \n", Stop),
        ("/status@bot", Status),
        ("/tools", Tools(ToolsCommand::List)),
        ("/help", Help { topic: None }),
        ("/help plan", Help { topic: some("plan") }),
        ("/help  /plan approve ", Help { topic: some("/plan approve") }),
    ] {
        assert_eq!(parse(text), ParsedInput::Command(expected), "{text:?}");
    }
}

/// What only looks waits for no turn.
#[test]
fn commands_that_only_look() {
    let looks = |text: &str| match parse(text) {
        ParsedInput::Command(command) => command.is_look(),
        other => panic!("{text:?} is no command: {other:?}"),
    };
    for text in [
        "/status",
        "/sessions",
        "/plans",
        "/plan status",
        "/plan show 1",
        "/goals",
        "/tasks",
        "/tools",
        "/auto status",
        "/changes",
        "/allow",
        "/memory offers",
        "/memory search till",
    ] {
        assert!(looks(text), "{text}");
    }
    for text in [
        "/stop",
        "/reset",
        "/compact",
        "/undo",
        "/plan approve",
        "/plan resume 1",
        "/goal add One",
        "/auto on",
        "/allow 12345678",
        "/memory save The till is red.",
        "/memory undo",
    ] {
        assert!(!looks(text), "{text}");
    }
}

#[test]
fn slips_are_put_right_and_not_planned() {
    for (text, expected) in [
        ("/pln on", &["/plan on"][..]),
        ("/PLNA on", &["/plan on"]),
        ("/pln onn", &["/plan"]),
        ("/pla on", &["/plan on"]),
        ("/pln@Bot move the shop", &["/plan move the shop"]),
        ("/aprove", &["/plan approve"]),
        ("/aprove 3", &["/plan approve 3"]),
        ("/approve 3 skip 2 -- ok", &["/plan approve 3 skip 2 -- ok"]),
        ("/approve everything", &["/plan approve"]),
        ("/plan_approve 3", &["/plan approve 3"]),
        ("/planon", &["/plan on"]),
        ("/done", &["/plan done"]),
        ("/sesions", &["/sessions"]),
        ("/sess", &["/sessions"]),
        ("/stauts", &["/plan status", "/status"]),
        ("/hlep", &["/help"]),
        ("/xyzzy", &[]),
        ("/etc", &[]),
        ("/план", &[]),
        ("/", &[]),
        // What is not offered is not suggested either.
        ("/atuo on", &["/auto on"]),
        ("/goalz", &["/goal", "/goals"]),
        ("/plan onn", &["/plan on"]),
        ("/plan of", &["/plan on", "/plan off"]),
        ("/plan aprove", &["/plan approve"]),
        ("/plan aprove 3", &["/plan approve 3"]),
        ("/plan aprove it", &["/plan approve it"]),
        ("/plan Apporve 3 only 1, 3 -- looks fine to me", &["/plan approve 3 only 1, 3 -- looks fine to me"]),
        ("/plan onn build", &["/plan on build"]),
        ("/plan rejct no", &["/plan reject no"]),
        ("/plan app", &["/plan approve"]),
        ("/plan shwo 3", &["/plan show 3"]),
    ] {
        let (Mistake::NoSuchCommand { suggestions, .. } | Mistake::NearlyPlanCommand { suggestions, .. }) =
            mistake(text)
        else {
            panic!("{text:?} is another mistake")
        };
        assert_eq!(suggestions, expected, "{text:?}");
    }
}

#[test]
fn texts_that_only_look_like_commands_are_planned() {
    for text in [
        "an outing",
        "one trip to Rome",
        "improve performance",
        "import flow",
        "report layout",
        "on-call rotation",
        "shop opening in May",
        "devise a better name",
        "rejct this idea of mine",
        "file cleanup",
    ] {
        let expected = SlashCommand::Plan(PlanCommand::About(text.to_owned()));
        assert_eq!(parse(&format!("/plan {text}")), ParsedInput::Command(expected), "{text:?}");
    }
}

#[test]
fn mistakes_say_what_to_write_instead() {
    for (text, expected) in [
        ("/pln on", "There is no command `/pln`. Did you mean `/plan on`?"),
        ("/stauts", "There is no command `/stauts`. Did you mean `/plan status` or `/status`?"),
        (
            "/xyzzy",
            "There is no command `/xyzzy`. `/help` lists what there is; to send this as a message, begin with `//`.",
        ),
        (
            "/plan aprove 3",
            "There is no command `/plan aprove`. Did you mean `/plan approve 3`? To have the text itself planned, begin \
             with `/plan --`.",
        ),
        (
            "/plan on foo",
            "`foo` is not a plan style; styles are document, collect and build. Usage: `/plan on \
             [document|collect|build]`.",
        ),
        (
            "/plan export all data",
            "`all` does not name a plan: give its number, or six or more characters of its id. Usage: `/plan export \
             [plan]`. To have the text itself planned, begin with `/plan --`.",
        ),
        ("/plan revise", "Say what to change. Usage: `/plan revise [#plan] <what to change>`."),
        ("/plan revise --", "Say what to change. Usage: `/plan revise [#plan] <what to change>`."),
        ("/plan --", "Say what to plan. Usage: `/plan <what to plan>`."),
        ("/plan done now", "Nothing can follow this command, and `now` did. Usage: `/plan done`."),
        ("/new extra words", "Nothing can follow this command, and `extra words` did. Usage: `/new`."),
        ("/switch", "Say which session; `/sessions` lists them. Usage: `/switch <key>`."),
        ("/switch my key", "`my key` is not the key of a session. Usage: `/switch <key>`."),
        (
            "/AUTO what",
            "`what` is none of `on`, `off`, `resume` and `status`. Usage: `/auto [on [goal]|off [run]|resume [run]|status]`.",
        ),
    ] {
        assert_eq!(mistake(text).to_string(), expected, "{text:?}");
    }
}

/// `/plan revise 1 more test` asks for one more test, or for another test in plan 1. Only the person knows.
#[test]
fn a_bare_number_before_a_text_is_asked_about() {
    for (command, number, text) in [
        ("plan revise", "1", "more tests please"),
        ("plan revise", "3", "use a view"),
        ("plan revise", "2024", "is over"),
        ("plan revise", "202401", "is a month"),
        ("plan reject", "3", "too risky"),
        ("plan reject", "2", "steps -- are missing"),
    ] {
        let typed = format!("/{command} {number} {text}");
        let expected = Mistake::PlanOrText {
            number: number.to_owned(),
            suggestions: [format!("/{command} #{number} {text}"), format!("/{command} -- {number} {text}")],
        };
        assert_eq!(mistake(&typed), expected, "{typed}");
        let Mistake::PlanOrText { suggestions: [plan, phrase], .. } = expected else { unreachable!() };
        let parsed = |line: &str| match parse(line) {
            ParsedInput::Command(SlashCommand::Plan(command)) => command,
            other => panic!("{line}: {other:?}"),
        };
        let number = Some(PlanReference::Number(number.parse().unwrap()));
        let named = |command: PlanCommand| match command {
            PlanCommand::Revise { plan, feedback } => (plan, feedback),
            PlanCommand::Reject { plan, reason } => (plan, reason.unwrap_or_default()),
            other => panic!("{other:?}"),
        };
        assert_eq!(named(parsed(&plan)), (number, text.to_owned()));
        assert_eq!(named(parsed(&phrase)).0, None);
    }
    assert_eq!(
        mistake("/plan revise 1 more tests please").to_string(),
        "It is not clear whether 1 is plan 1 or the first word of your text. Write `/plan revise #1 more tests please` \
         for the plan, or `/plan revise -- 1 more tests please` for the text."
    );
}

/// An approval is never more than what was written.
#[test]
fn approvals_that_are_not_understood_are_refused() {
    for arguments in [
        "everything",
        "looks good",
        "3 4",
        "3 looks good",
        "3 onyl 1,3",
        "3 only",
        "3 only 0",
        "3 only 1 3",
        "3 only 1,",
        "3 only ,1",
        "3 only 3-1",
        "3 only 1-2-3",
        "3 only +1",
        "3 only one",
        "3 only 1 skip 2",
        "3 only 1,3 looks fine",
        "3 only 1-99999999999999999999",
        "3 only 1-4000000000",
        "3 only -- 1",
        "3 – fine",
        "3 --note fine",
        "3 --digest 00",
        "--only",
        "only 1,3 3",
        "3 step by",
        "3 by step",
        "3 step by step only 1",
        "step by step 3",
        "3 step by step by step",
    ] {
        let mistake = mistake(&format!("/plan approve {arguments}"));
        assert!(matches!(mistake, Mistake::WrongArguments { .. }), "{arguments}: {mistake}");
    }
}

#[test]
fn what_follows_a_command_that_takes_less_is_refused() {
    for text in ["/plan cancel subscription feature", "/plan show 3 4", "/plan diff 1 2 3", "/plan diff the two"] {
        assert!(matches!(mistake(text), Mistake::WrongArguments { .. }), "{text}");
    }
    for entry in offered().filter(|entry| entry.arguments.is_empty()) {
        let text = format!("/{} and more", entry.name);
        assert!(matches!(mistake(&text), Mistake::WrongArguments { .. }), "{text}");
    }
}

#[test]
fn mistakes_are_refusals_with_a_code() {
    for (text, code) in [
        ("/xyzzy", RefusalCode::InvalidArgument),
        ("/plan onn", RefusalCode::InvalidArgument),
        ("/plan on foo", RefusalCode::InvalidArgument),
    ] {
        let refusal = Refusal::from(mistake(text));
        assert_eq!((refusal.code, refusal.message), (code, mistake(text).to_string()));
    }
}

#[test]
fn help_lists_exactly_what_is_offered() {
    let page = help(None);
    for entry in offered() {
        assert!(page.contains(&format!("- `{}`: {}\n", entry.usage(), entry.help)), "{}", entry.name);
        assert!(!entry.help.ends_with('.') && entry.help.len() < 90, "{}", entry.help);
        let details = help(Some(entry.name));
        assert!(details.contains(&entry.usage()) && details.contains(&format!("`{}`", entry.example)), "{details}");
        let ParsedInput::Command(example) = parse(entry.example) else { panic!("{}", entry.example) };
        assert_eq!(example.name(), entry.name);
    }
    assert!(page.starts_with("**Plan work**\n\n- `/plan <what to plan>`: "), "{page}");
    assert!(page.contains("**On its own**"), "{page}");
}

#[test]
fn help_on_a_topic() {
    let plan = help(Some("plan"));
    assert_eq!(plan.lines().filter(|line| line.starts_with("- `/plan")).count(), 14);
    assert!(!plan.contains("/plans"), "{plan}");
    assert!(plan.contains("`[plan]` is a plan's number"));
    assert_eq!(help(Some(" /Plan  APPROVE ")), help(Some("approve")));
    assert_eq!(help(Some("  ")), help(None));
    assert_eq!(
        help(Some("switch")),
        "- `/switch <key>`: continue in another session\n  `/switch k3yk3y8x`",
        "nothing about plans where none is named"
    );
    assert_eq!(help(Some("pln")), "There is no help on `pln`. Did you mean `/help plan`?");
    assert_eq!(help(Some("cooking")), "There is no help on `cooking`. `/help` lists the commands.");
}

#[test]
fn completion_goes_word_by_word() {
    for (prefix, expected) in [
        ("/pl", &["/plan ", "/plans"][..]),
        ("/PL", &["/plan ", "/plans"]),
        (" /plan", &["/plan ", "/plans"]),
        ("/plan a", &["/plan approve "]),
        ("/plan  o", &["/plan on ", "/plan off"]),
        ("/plan on", &["/plan on "]),
        ("/plan on ", &["/plan on document", "/plan on collect", "/plan on build"]),
        ("/plan on c", &["/plan on collect"]),
        ("/plan f", &["/plan files "]),
        ("/plan files ", &["/plan files on", "/plan files off"]),
        ("/plan approve ", &[]),
        ("/s", &["/sessions", "/switch ", "/stop", "/schedule ", "/status"]),
        ("/stop", &[]),
        ("/help plan re", &["/help plan reject", "/help plan revise", "/help plan resume"]),
        ("/a", &["/allow ", "/answer ", "/auto "]),
        ("/x", &[]),
        ("//", &[]),
        ("", &[]),
        ("plan", &[]),
    ] {
        assert_eq!(completions(prefix), expected, "{prefix:?}");
    }
    let styles: Vec<_> = PlanStyle::ALL.iter().map(|style| format!("/plan on {style}")).collect();
    assert_eq!(completions("/plan on "), styles, "usage names the styles there are");
    assert_eq!(completions("/plan ").len(), 13);
}

#[test]
fn every_command_of_the_table_can_be_typed() {
    for entry in offered() {
        match parse(entry.example) {
            ParsedInput::Command(command) => assert_eq!(command.name(), entry.name),
            other => panic!("{}: {other:?}", entry.example),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_command_is_read_as_it_is_written(command in any_command()) {
        let written = command.to_string();
        prop_assert!(offered().any(|entry| entry.name == command.name()));
        prop_assert_eq!(parse(&written), ParsedInput::Command(command), "{}", written);
    }

    #[test]
    fn whatever_is_typed_is_read(line in any_line()) {
        check_line(&line);
    }
}

/// What holds for every text.
pub(crate) fn check_line(text: &str) {
    match parse(text) {
        ParsedInput::Message(message) => {
            assert!(message == text || text.trim_start().strip_prefix('/') == Some(message))
        }
        ParsedInput::Command(command) => {
            assert!(text.trim_start().starts_with('/'));
            assert!(offered().any(|entry| entry.name == command.name()));
            assert_eq!(parse(&command.to_string()), ParsedInput::Command(command), "{text:?}");
        }
        ParsedInput::Refused(mistake) => {
            let reply = mistake.to_string();
            assert!(!reply.is_empty() && reply.chars().count() < 900, "{reply}");
            if let Mistake::NoSuchCommand { suggestions, .. } | Mistake::NearlyPlanCommand { suggestions, .. } = mistake
            {
                for line in suggestions {
                    assert!(!matches!(parse(&line), ParsedInput::Message(_)), "{line}");
                }
            }
        }
    }
    for line in completions(text) {
        assert!(line.starts_with('/') && line != text && !line.contains("  "), "{text:?} {line:?}");
    }
    assert!(!help(Some(text)).is_empty());
}

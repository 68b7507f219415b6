//! When a workbook is begun by itself: not for trivial messages, and for real ones.

use planwright_core::workbook::auto_init::{Reason, assess};
use planwright_core::workbook::{AssessmentRecord, PlanningFiles};

const TRIVIAL: &[&str] = &[
    "",
    "hi",
    "Thanks, that was great!",
    "What's the weather like in Lisbon today?",
    "fix the typo in the README",
    "Run the tests.",
    "Write a haiku about autumn, please.",
    "continue",
    "yes, go on with the second one",
    "/plan",
    "/plans",
    "/planet of the apes",
    "What is the difference between TCP and UDP, and when would I use which of them?",
    "How do I build, test and deploy a Docker image, and then migrate it to another registry?",
    "Can you explain how you would research, compare and evaluate three databases for a small company like ours?",
    "Add a line to notes.md that says that the meeting was moved to Thursday at ten in the morning.",
    "Then who wrote it first? I always thought it was the other one, but now I am not so sure any more.",
    "Please read config.toml and tell me which port the server listens on when nothing else has been set.",
    "Rename the function parse to read in lexer.rs and leave everything else in the file exactly as it is.",
    "Why does this fail?\n\n```\nerror: first build, then test, then deploy\nresearch compare migrate implement\n1. a\n2. b\n3. c\n```",
    "> research, compare, design, implement, test and deploy the whole thing, then write a report\n\nWho said that in the last meeting, and what did the others in the room answer to it?",
    "I am a bit tired today, so let us just talk for a while about films, music or whatever comes to mind.",
    "The quick brown fox jumps over the lazy dog and then it goes home again, since it is late in the evening.",
];

const REAL: &[&str] = &[
    "/plan move the blog to a new host",
    "  /plan tidy up",
    "Research the three best vector databases, compare their prices and write a report with a recommendation.",
    "Migrate the billing service from MySQL to PostgreSQL, then update the deployment and test everything.",
    "Build me a website for my bakery with a menu, an order form and a blog, then set up the hosting for it.",
    "Please do these for the release:\n\n- update the changelog\n- bump every version number\n- publish the packages\n- write the announcement",
    "First read all the interview notes in the folder, then find the common themes, and finally write a summary of five pages.",
    "Refactor the parser into its own crate, add property tests, document the public items and fix what clippy says.",
    "Organise a three-day workshop in Vienna for twelve people: find a venue, compare hotels, prepare an agenda and a budget.",
    "Investigate why the nightly job has been failing since March, fix the cause and write down what happened.",
    "I want to learn Rust in three months. Design a curriculum, collect the best resources and prepare weekly exercises for me.",
    "Analyse our support tickets of the last year, then group them by cause and write proposals for the top five.",
    "Can you research the history of our street, collect old photographs and prepare a talk of twenty minutes?",
    "How are you? Have a look at the code, refactor the parser, then write tests and a short report about it.",
    "Implement the export as CSV, JSON and Parquet, with tests for each of them, and describe it in the manual afterwards.",
];

fn settings() -> PlanningFiles {
    PlanningFiles::default()
}

#[test]
fn trivial_messages_begin_nothing() {
    for message in TRIVIAL {
        let assessment = assess(message, &settings());
        assert!(!assessment.begin, "{message}: {assessment:?}");
    }
}

#[test]
fn real_ones_begin_a_workbook() {
    for message in REAL {
        let assessment = assess(message, &settings());
        assert!(assessment.begin, "{message}: {assessment:?}");
        assert!(assessment.score >= settings().min_score && !assessment.reasons.is_empty(), "{assessment:?}");
    }
}

#[test]
fn an_assessment_says_why() {
    let assessment = assess(REAL[3], &settings());
    let judged = AssessmentRecord::from(&assessment);
    assert_eq!((judged.begin, judged.score), (true, 5));
    assert_eq!(
        judged.reasons,
        [
            "one thing after another: then",
            "several things to do: migrate, test, update",
            "work of many steps: migrate",
            "3 things in one sentence"
        ]
    );
    assert_eq!(assess("hi", &settings()).reasons, [Reason::TooShort { words: 1 }]);
    assert_eq!(assess("/plan x", &settings()).reasons, [Reason::Asked]);
}

#[test]
fn the_thresholds_are_kept() {
    let strict = PlanningFiles { min_score: 100, ..settings() };
    let lax = PlanningFiles { min_score: 1, min_words: 1, ..settings() };
    let words = PlanningFiles { min_words: 1_000, ..settings() };
    for message in &REAL[2..] {
        assert!(!assess(message, &strict).begin && !assess(message, &words).begin, "{message}");
    }
    assert!(assess("/plan tidy up", &strict).begin && assess("/plan tidy up", &words).begin);
    assert!(assess("Research tea", &lax).begin && !assess("Research tea", &settings()).begin);
    assert!(!assess("hello", &lax).begin);
}

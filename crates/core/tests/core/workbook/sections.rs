//! A section is found by its exact heading and replaced, and nothing else changes.

use planwright_core::workbook::sections::{Scope, SectionProblem, headings, names, replace};

const PLAN: &str = "\
# Move house

Status: in_progress

## Goal

Live elsewhere.

## Phases

Five of them.

### Phase 1

- [x] Look

### Phase 2

- [ ] Sign

### Phase 10

- [ ] Pack

## Notes

None.
";

fn own(section: &str, content: &str) -> String {
    replace(PLAN, section, content, Scope::OwnText).unwrap()
}

fn whole(section: &str, content: &str) -> String {
    replace(PLAN, section, content, Scope::WithSubsections).unwrap()
}

fn problem(markdown: &str, section: &str, content: &str) -> SectionProblem {
    replace(markdown, section, content, Scope::OwnText).unwrap_err().problem
}

#[test]
fn only_the_own_text_of_a_section_is_replaced() {
    assert_eq!(own("Phases", "Three."), PLAN.replace("Five of them.", "Three."));
    assert_eq!(own("Phase 1", "- [x] Look twice"), PLAN.replace("- [x] Look\n", "- [x] Look twice\n"));
    assert_eq!(own("Notes", "Many."), PLAN.replace("None.", "Many."));
    assert_eq!(own("Move house", "Status: complete"), PLAN.replace("in_progress", "complete"));
}

#[test]
fn with_its_subsections_all_of_a_section_is_replaced_and_no_more() {
    let start = PLAN.find("Five").unwrap();
    let end = PLAN.find("## Notes").unwrap();
    let expected = format!("{}### Only one\n\n- [ ] Go\n\n{}", &PLAN[..start], &PLAN[end..]);
    assert_eq!(whole("Phases", "### Only one\n\n- [ ] Go"), expected);
    // The last of them ends where the section above it ends.
    assert_eq!(whole("Phase 10", "Rest."), PLAN.replace("- [ ] Pack", "Rest."));
}

#[test]
fn a_name_means_a_heading_exactly() {
    for name in ["Phase 1", "### Phase 1", "###   Phase  1 ", "Phases > Phase 1", "Move house > Phases > Phase 1"] {
        assert_eq!(own(name, "Changed."), PLAN.replace("- [x] Look\n", "Changed.\n"), "{name}");
    }
    for name in
        ["Phase", "phase 1", "Phase 11", "## Phase 1", "Goal > Phase 1", "", "#", "Live elsewhere.", "- [x] Look"]
    {
        let error = replace(PLAN, name, "x", Scope::OwnText).unwrap_err();
        assert_eq!(error.problem, SectionProblem::Unknown { section: name.to_owned() }, "{name}");
        assert_eq!(error.headings, ["Move house", "Goal", "Phases", "Phase 1", "Phase 2", "Phase 10", "Notes"]);
        assert!(error.to_string().contains("`Phase 10`"), "{error}");
    }
}

#[test]
fn a_heading_that_is_there_twice_is_named_by_its_path() {
    let text = "# A\n\n## Tests\n\none\n\n# B\n\n## Tests\n\ntwo\n\n## Tests\n\nthree\n";
    let error = replace(text, "Tests", "x", Scope::OwnText).unwrap_err();
    assert_eq!(error.problem, SectionProblem::Ambiguous { section: "Tests".to_owned(), count: 3 });
    assert_eq!(error.headings, ["A", "A > Tests", "B", "B > Tests [1]", "B > Tests [2]"]);
    for (name, old) in
        [("A > Tests", "one"), ("B > Tests [1]", "two"), ("B > Tests [2]", "three"), ("Tests [3]", "three")]
    {
        assert_eq!(replace(text, name, "x", Scope::OwnText).unwrap(), text.replace(old, "x"), "{name}");
    }
    assert!(matches!(problem(text, "B > Tests", "x"), SectionProblem::Ambiguous { count: 2, .. }));
    assert!(matches!(problem(text, "Tests [4]", "x"), SectionProblem::Unknown { .. }));
    assert!(matches!(problem(text, "Tests [0]", "x"), SectionProblem::Unknown { .. }));
    // The level tells two apart as well.
    let text = "# Log\n\na\n\n## Log\n\nb\n";
    assert_eq!(replace(text, "## Log", "x", Scope::OwnText).unwrap(), text.replace('b', "x"));
}

#[test]
fn headings_may_hold_markup_and_look_like_paths() {
    let text = "# Use `x` *now*\n\na\n\n# A > B\n\nb\n\n# C#\n\nc\n\n# x [2]\n\nd\n";
    for (name, old) in
        [("Use x now", 'a'), ("Use `x` *now*", 'a'), ("A > B", 'b'), ("C#", 'c'), ("# C#", 'c'), ("x [2]", 'd')]
    {
        assert_eq!(
            replace(text, name, "Z", Scope::OwnText).unwrap(),
            text.replace(&format!("\n{old}\n"), "\nZ\n"),
            "{name}"
        );
    }
}

#[test]
fn the_own_heading_at_the_beginning_of_the_content_is_not_doubled() {
    assert_eq!(own("Goal", "## Goal\n\nMove."), PLAN.replace("Live elsewhere.", "Move."));
    assert_eq!(own("Goal", "\n\nGoal\n----\nMove.\n\n"), PLAN.replace("Live elsewhere.", "Move."));
}

#[test]
fn content_that_would_break_the_structure_is_refused() {
    for content in ["text\n\n## Other\n\nmore", "# Goal\n\nmore", "Other\n===\n"] {
        assert!(matches!(problem(PLAN, "Goal", content), SectionProblem::HeadingTooHigh { level: 2, .. }), "{content}");
    }
    for content in ["```\nnever closed", "~~~~\n~~~", "<!-- never closed", "<script>\nlet x;", "```\n```\n```"] {
        assert_eq!(problem(PLAN, "Goal", content), SectionProblem::Swallows, "{content}");
        // At the end there is nothing to swallow.
        assert!(replace(PLAN, "Notes", content, Scope::OwnText).is_ok(), "{content}");
    }
    let doubled = problem(PLAN, "Phases", "### Phase 2\n\n- [x] Sign");
    assert_eq!(doubled, SectionProblem::Doubled { heading: "Phase 2".to_owned() });
    assert!(own("Phases", "### Phase 0\n\nDream.").contains("### Phase 0\n\nDream.\n\n### Phase 1\n"));
}

#[test]
fn the_title_does_not_take_the_document_with_it() {
    let error = replace(PLAN, "Move house", "Status: complete", Scope::WithSubsections).unwrap_err();
    assert_eq!(error.problem, SectionProblem::WholeDocument { section: "Move house".to_owned() });
    assert_eq!(replace("# A\n\nx\n", "A", "y", Scope::WithSubsections).unwrap(), "# A\n\ny\n");
    assert_eq!(replace("# A\n\n## B\n\n# C\n", "A", "y", Scope::WithSubsections).unwrap(), "# A\n\ny\n\n# C\n");
}

#[test]
fn nothing_takes_the_place_of_something() {
    assert_eq!(own("Goal", "  \n\n"), PLAN.replace("Live elsewhere.\n\n", ""));
    assert_eq!(whole("Notes", ""), PLAN.replace("\nNone.\n", ""));
}

#[test]
fn line_ends_a_missing_last_one_and_a_mark_stay() {
    let windows = PLAN.replace('\n', "\r\n");
    let replaced = replace(&windows, "Goal", "One.\nTwo.\r\nThree.", Scope::OwnText).unwrap();
    assert_eq!(replaced, windows.replace("Live elsewhere.", "One.\r\nTwo.\r\nThree."));
    let marked = format!("\u{feff}{}", PLAN.trim_end());
    assert_eq!(replace(&marked, "Goal", "x", Scope::OwnText).unwrap(), marked.replace("Live elsewhere.", "x"));
    assert_eq!(replace(&marked, "Notes", "x", Scope::OwnText).unwrap(), marked.replace("None.", "x"));
    assert_eq!(
        replace(&marked, "Move house", "x", Scope::OwnText).unwrap(),
        marked.replace("Status: in_progress", "x")
    );
    assert_eq!(replace("# Only", "Only", "x", Scope::OwnText).unwrap(), "# Only\n\nx");
    assert_eq!(replace("# Only\n", "Only", "x", Scope::OwnText).unwrap(), "# Only\n\nx\n");
    assert_eq!(replace("# A\r# B\r", "A", "x\ny", Scope::OwnText).unwrap(), "# A\r\rx\ry\r\r# B\r");
}

#[test]
fn sections_know_where_they_are() {
    let found = headings(PLAN);
    let told: Vec<_> = found.iter().map(|section| (section.level, section.title.as_str(), section.parent)).collect();
    let phases = Some(2);
    assert_eq!(
        told,
        [
            (1, "Move house", None),
            (2, "Goal", Some(0)),
            (2, "Phases", Some(0)),
            (3, "Phase 1", phases),
            (3, "Phase 2", phases),
            (3, "Phase 10", phases),
            (2, "Notes", Some(0)),
        ]
    );
    assert_eq!(&PLAN[found[1].heading.clone()], "## Goal\n");
    assert_eq!(&PLAN[found[1].own.clone()], "\nLive elsewhere.\n\n");
    assert_eq!(PLAN[found[2].whole.clone()].matches("###").count(), 3);
    assert_eq!(names("no heading"), [""; 0]);
}

//! A plan is complete when its tree says so.

use planwright_core::workbook::completion::{is_complete, standing};

#[test]
fn a_status_line_in_the_header_counts() {
    for header in [
        "Status: complete",
        "status: Complete",
        "**Status:** complete",
        "**Status**: complete.",
        "*Status: complete*",
        "- Status: complete",
        "* **Status:** ✅ complete",
        "1. Status: done",
        "Begun: today\nStatus: completed\nOwner: me",
        "Begun: today\\\nStatus: completed",
        "Some words about it.\n\n- Owner: me\n- Status: complete",
        "Status : complete",
    ] {
        let plan = format!("# Plan\n\n{header}\n\n## Phases\n\n### One\n\nStatus: pending\n");
        assert!(is_complete(&plan), "{plan}");
        assert!(is_complete(&plan.replace('\n', "\r\n")), "{plan}");
        assert!(is_complete(&format!("\u{feff}{plan}")), "{plan}");
    }
    assert!(is_complete("Plan\n====\nStatus: complete\n"));
    assert!(is_complete("Status: complete\n\n## Goal\n"));
    assert!(is_complete("Status: complete"));
}

#[test]
fn prose_code_quotations_and_other_places_never_count() {
    for header in [
        "",
        "Status: in_progress",
        "Status: not complete",
        "Status: complete?",
        "Status: complete when all is done",
        "Status: incomplete",
        "Status:",
        "Status complete",
        "The status: complete",
        "Write `Status: complete` here at the end.",
        "`Status: complete`",
        "Status: `complete`",
        "~~Status: complete~~",
        "<!-- Status: complete -->",
        "<p>\nStatus: complete\n</p>",
        "```\nStatus: complete\n```",
        "    Status: complete",
        "> Status: complete",
        "- a\n  - Status: complete",
        "- [ ] Status: complete",
        "| Status: | complete |\n|---|---|\n| Status: complete | x |",
        "When all is done, this says\nStatus: complete\nand nothing else.",
        "[Status: complete](x)",
        "Status: complete\nStatus: pending",
        "- Status: complete\n- Status: in_progress",
    ] {
        let plan = format!("# Plan\n\n{header}\n\n## Phases\n\n### One\n\nStatus: pending\n");
        assert!(!is_complete(&plan), "{plan}");
    }
    for plan in [
        "",
        "# Plan\n\n## Status\n\nStatus: complete\n",
        "# Plan\n\n## Notes\n\nStatus: complete\n",
        "# Status: complete\n",
        "# Plan\n\n## Status: complete\n",
        "## Goal\n\nStatus: complete\n",
        "# Plan\n\n## Phases\n\nStatus: complete\n",
        "# Plan\n\n## Phases\n\n## Other\n",
    ] {
        assert!(!is_complete(plan), "{plan}");
    }
}

const PHASES: &str = "# Plan\n\nStatus: in_progress\n\n## Phases\n\n### One\n\n- [x] a\n- **Status:** complete\n\n\
                      ### Two\n\n- [x] b\n- [ ] c `d`\n- **Status:** in_progress\n\n#### Detail\n\nStatus: complete\n\n\
                      ### Three\n\n- **Status:** pending\n\n## Errors\n";

#[test]
fn every_phase_has_to_be_complete_in_its_own_words() {
    assert!(!is_complete(PHASES));
    let two = PHASES.replace("in_progress\n\n####", "complete\n\n####");
    assert!(!is_complete(&two));
    let three = two.replace("pending", "complete");
    assert!(is_complete(&three));
    assert!(is_complete(&three.replace("## Phases", "## phases")));
    assert!(!is_complete(&three.replace("## Phases", "## Phases of the moon")));
    // A phase without a status is not complete, and a second list of phases counts as well.
    assert!(!is_complete(&three.replace("## Errors", "### Four\n\nDone, I think.\n\n## Errors")));
    assert!(!is_complete(&format!("{three}\n## Phases\n\n### Five\n")));
}

#[test]
fn a_plan_says_which_phase_it_is_in() {
    let standing = standing(PHASES);
    let (number, phase) = standing.current().unwrap();
    assert_eq!((number, phase.title.as_str(), phase.next.as_deref()), (2, "Two", Some("c d")));
    assert_eq!(standing.phases.len(), 3);
    assert_eq!(standing.phases[0].next, None);
}

Feature: Approval
  A person approves exactly what they saw. No tool, no model and no accident ever decides in their place.

  Background:
    Given a session "cli:appr0val"
    And plan work is on

  Scenario: A person approves the text they were shown
    When the agent writes the plan "# Shown"
    And the person looks at plan 1
    And the person approves plan 1 as they saw it
    Then plan 1 is APPROVED
    And the approval of plan 1 is by "ann", a person, through "cli", for the text that was shown

  Scenario: A text that changed after it was shown is not approved
    When the agent writes the plan "# Shown"
    And the person looks at plan 1
    And the agent writes the plan "# Changed"
    And the person approves plan 1 as they saw it
    Then the decision is refused with STALE_APPROVAL
    And plan 1 is READY

  Scenario: A text that was changed and changed back is the text that was shown
    When the agent writes the plan "# Shown"
    And the person looks at plan 1
    And the agent writes the plan "# Changed"
    And the agent writes the plan "# Shown"
    And the person approves plan 1 as they saw it
    Then plan 1 is APPROVED
    And plan 1 has 3 versions
    And the approval of plan 1 is by "ann", a person, through "cli", for the text that was shown

  Scenario: A title that changed after it was shown is not approved
    When the agent calls "plan_set_content" with '{"plan_markdown": "# Shown", "title": "Tidy up"}'
    And the person looks at plan 1
    And the agent calls "plan_set_content" with '{"plan_markdown": "# Shown", "title": "Delete everything"}'
    And the person approves plan 1 as they saw it
    Then the decision is refused with STALE_APPROVAL
    And plan 1 is READY

  Scenario Outline: An agent decides nothing
    When the agent writes the plan "# Mine"
    And the agent tries to <decide> plan 1
    Then the decision is refused with POLICY_DENIED
    And nothing was written
    And plan 1 is READY

    Examples:
      | decide  |
      | approve |
      | reject  |
      | cancel  |
      | revise  |

  Scenario: No tool approves
    When the agent writes the plan "# Mine"
    And the agent calls "plan_approve" with '{"plan_id": "1"}'
    Then the call is refused with NOT_FOUND
    And plan 1 is READY

  Scenario: A document is approved as a whole
    When the agent writes the plan "- [ ] one\n- [ ] two"
    And the person approves plan 1 only "1"
    Then the decision is refused with INVALID_ARGUMENT
    And plan 1 is READY

  Scenario: Approving twice is harmless
    When the agent writes the plan "# Once"
    And the person approves plan 1
    And the person approves plan 1
    Then the decision is refused with WRONG_STATUS
    And plan 1 is APPROVED

  Scenario: Feedback reaches the agent, and the new text answers it
    When the agent writes the plan "# Draft"
    And the person asks for changes to plan 1 with "shorter"
    And the agent calls "plan_get" with '{}'
    Then the answer has "feedback" "shorter"
    When the agent writes the plan "# Short"
    And the agent calls "plan_get" with '{}'
    Then the answer has no "feedback"

  Scenario: Asking for changes to an approved document opens a new draft with its text
    Given plan 1 was brought to APPROVED
    When the person asks for changes to plan 1 with "not yet"
    Then plan 1 is SUPERSEDED
    And plan 2 is COLLECTING
    And plan 2 is the active plan

  Scenario: The agent reports on an approved plan, and the approved text stays as it is
    When the agent writes the plan "- [ ] one\n- [ ] two"
    And the person approves plan 1
    Then the agent sees the tools "plan_get, plan_set_content, plan_progress"
    When the agent calls "plan_progress" with '{"status": "in_progress"}'
    Then plan 1 is EXECUTING
    When the agent calls "plan_progress" with '{"status": "done", "evidence": "saw it"}'
    And the agent calls "plan_progress" with '{"step": 2, "status": "done"}'
    Then plan 1 is COMPLETED
    And the plan reads "- [ ] one\n- [ ] two"

  Scenario: A plan whose step failed is only partially completed, and can be resumed
    When the agent writes the plan "- [ ] one\n- [ ] two"
    And the person approves plan 1
    And the agent calls "plan_progress" with '{"step": 1, "status": "done"}'
    And the agent calls "plan_progress" with '{"step": 2, "status": "failed", "note": "no network"}'
    Then plan 1 is PARTIALLY_COMPLETED
    When the person resumes plan 1
    Then plan 1 is EXECUTING
    And step 1 of plan 1 is COMPLETED
    And step 2 of plan 1 is PENDING

  Scenario: No report is taken on a plan that is not approved
    When the agent writes the plan "- [ ] one"
    And the agent calls "plan_progress" with '{"status": "done"}'
    Then the call is refused with WRONG_STATUS
    And nothing was written

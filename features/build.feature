Feature: Building a plan piece by piece
  The agent builds a draft with small tool calls, each checked at once, and submits it as a proposal, which is checked
  as a whole. A proposal is frozen; a person decides about it. (Plan style "build".)

  Background:
    Given a session "web:bu1ldbu1"
    And plan work is on in style build

  Scenario: A draft is created, filled and submitted
    When the agent calls "plan_create_draft" with '{"goal": "Add authentication", "title": "Auth"}'
    Then the answer has "status" "COLLECTING"
    When the agent sets all metadata
    And the agent calls "plan_add_step" with '{"description": "Write middleware", "agent": "coder"}'
    Then the answer has "step_id" "s1"
    When the agent calls "plan_add_step" with '{"description": "Write tests", "agent": "tester", "needs": ["s1"]}'
    And the agent calls "plan_submit" with '{}'
    Then the answer has "status" "READY"
    And plan 1 is READY

  Scenario: An incomplete draft stays a draft, and every missing part is reported at once
    When the agent calls "plan_submit" with '{}'
    Then the call is refused with INVALID_ARGUMENT
    And the errors are at "/goal, /assumptions, /risks, /verification, /files, /steps"
    And plan 1 is COLLECTING
    And nothing was written

  Scenario: Setting metadata says what is still missing
    When the agent calls "plan_set_metadata" with '{"goal": "A goal", "risks": ["none"]}'
    Then the missing parts are "/assumptions, /verification, /files, /steps"

  Scenario: Steps name agents that exist
    When the agent calls "plan_add_step" with '{"description": "Dig", "agent": "gardener"}'
    Then the call is refused with UNKNOWN_AGENT
    And the refusal names "coder"
    And nothing was written

  Scenario: The planner cannot be given a step
    When the agent calls "plan_add_step" with '{"description": "Plan", "agent": "planner"}'
    Then the call is refused with UNKNOWN_AGENT

  Scenario Outline: A position past the end is refused, not silently moved
    When the agent calls "plan_add_step" with '{"description": "One", "agent": "coder"}'
    And the agent calls "plan_add_step" with '{"description": "Two", "agent": "coder", "position": <position>}'
    Then the call is refused with INVALID_ARGUMENT
    And nothing was written

    Examples:
      | position |
      | 0        |
      | 3        |
      | 99       |

  Scenario: Steps are changed, moved and removed, and their ids stay
    When the agent calls "plan_add_step" with '{"description": "One", "agent": "coder"}'
    And the agent calls "plan_add_step" with '{"description": "Two", "agent": "coder"}'
    And the agent calls "plan_update_step" with '{"step_id": "s2", "position": 1, "description": "Zwei"}'
    Then the steps of plan 1 are "s2 Zwei, s1 One"
    When the agent calls "plan_remove_step" with '{"step_id": "s2"}'
    And the agent calls "plan_add_step" with '{"description": "Three", "agent": "coder"}'
    Then the steps of plan 1 are "s1 One, s3 Three"

  Scenario: A step cannot need one that comes after it, so there is no cycle
    When the agent calls "plan_add_step" with '{"description": "One", "agent": "coder"}'
    And the agent calls "plan_add_step" with '{"description": "Two", "agent": "coder", "needs": ["s1"]}'
    And the agent calls "plan_update_step" with '{"step_id": "s1", "needs": ["s2"]}'
    Then the call is refused with INVALID_ARGUMENT
    And nothing was written

  Scenario: A draft survives an interruption
    When the agent calls "plan_create_draft" with '{"goal": "Long work"}'
    And the agent calls "plan_add_step" with '{"description": "One", "agent": "coder"}'
    And Planwright is restarted
    And the agent calls "plan_get" with '{}'
    Then the answer has "goal" "Long work"
    And the steps of plan 1 are "s1 One"

  Scenario Outline: A proposal is frozen
    Given plan 1 was brought to READY
    When the agent calls "<tool>" with '<arguments>'
    Then the call is refused with WRONG_STATUS
    And nothing was written

    Examples:
      | tool              | arguments                                |
      | plan_set_metadata | {"goal": "Another"}                      |
      | plan_add_step     | {"description": "More", "agent": "coder"} |
      | plan_update_step  | {"step_id": "s1", "description": "Other"} |
      | plan_remove_step  | {"step_id": "s1"}                        |
      | plan_submit       | {}                                       |

  Scenario: Asking for changes opens a new draft that takes the proposal's place and continues from it
    Given plan 1 was brought to READY
    When the person asks for changes to plan 1 with "smaller steps"
    Then plan 1 is SUPERSEDED
    And plan 2 is COLLECTING
    And plan 2 supersedes plan 1
    And the steps of plan 2 are "s1 Write it, s2 Test it"
    When the agent calls "plan_add_step" with '{"description": "More", "agent": "coder"}'
    Then the answer has "step_id" "s3"

  Scenario: A rejected proposal is finished
    Given plan 1 was brought to READY
    When the person rejects plan 1 because "too risky"
    Then plan 1 is REJECTED
    When the person approves plan 1
    Then the decision is refused with WRONG_STATUS

  Scenario: A skipped step takes with it the steps that need it
    When the agent calls "plan_create_draft" with '{"goal": "Ship it"}'
    And the agent sets all metadata
    And the agent calls "plan_add_step" with '{"description": "Write it", "agent": "coder"}'
    And the agent calls "plan_add_step" with '{"description": "Test it", "agent": "tester", "needs": ["s1"]}'
    And the agent calls "plan_add_step" with '{"description": "Publish the results", "agent": "writer", "needs": ["s2"]}'
    And the agent calls "plan_add_step" with '{"description": "Describe it", "agent": "writer"}'
    And the agent calls "plan_submit" with '{}'
    And the person approves plan 1 without "1"
    Then plan 1 is APPROVED
    And step 1 of plan 1 is left out because "left out by the approval"
    And step 2 of plan 1 is left out because "needs step 1, which is skipped"
    And step 3 of plan 1 is left out because "needs step 2, which is skipped"
    And step 4 of plan 1 is PENDING

  Scenario: An approval that leaves nothing to do is refused
    Given plan 1 was brought to READY
    When the person approves plan 1 without "1"
    Then the decision is refused with INVALID_ARGUMENT
    And plan 1 is READY
    And nothing was written

  Scenario: The plans of a session can be listed and read
    Given plan 1 was brought to READY
    When the agent calls "plan_create_draft" with '{"goal": "The next thing"}'
    And the agent calls "plan_list" with '{}'
    Then the listed plans are "2 COLLECTING, 1 READY"
    When the agent calls "plan_get" with '{"plan_id": "1"}'
    Then the answer has "status" "READY"

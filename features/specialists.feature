Feature: The planner and the specialists
  The planner builds a proposal piece by piece, may ask specialists while it does, and gives each step to one of them.
  A specialist that answers a question may only read.

  Background:
    Given a session "cli:spec1al1st"
    And the person types "/plan on build"

  Scenario: The planner knows whom it can ask and give steps to
    Given the model answers "Let me think."
    When the person says "Add a login"
    Then the model's instructions say "- `coder`:"
    And the model's instructions say "- `tester`:"
    And the model's instructions say "- `reviewer`:"
    And the model's instructions say "- `researcher`:"
    And the model's instructions say "- `architect`:"
    And the model's instructions say "- `writer`:"
    And the model was offered "ask_agent"

  Scenario: The list is the one that is configured
    Given the agents are "gardener, coder"
    And the model calls "plan_add_step" with '{"description": "Plant it", "agent": "gardener"}'
    And the model answers "A step for the gardener."
    When the person says "Plant a tree"
    Then the model's instructions say "- `gardener`:"
    And the steps of plan 1 are "s1 Plant it"

  Scenario: A specialist answers a question in a conversation of its own
    Given the model calls "ask_agent" with '{"agent": "researcher", "question": "Which library?"}'
    And the model answers "Take the small one."
    And the model calls "plan_add_step" with '{"description": "Use the small one", "agent": "coder"}'
    And the model answers "One step so far."
    When the person says "The word is swordfish"
    Then the model was told "Take the small one."
    And the specialist was instructed "# You are the researcher"
    And the specialist was sent "Which library?"
    And the specialist was not sent "swordfish"
    And the model was not sent "You are the researcher"
    And the steps of plan 1 are "s1 Use the small one"
    And the person reads "One step so far."

  Scenario Outline: A specialist that is asked may only read
    Given a tool "mail" that changes things
    And a tool "stamp" that may be repeated
    And the model calls "ask_agent" with '{"agent": "coder", "question": "How is it?"}'
    And the model calls "<tool>" with '<arguments>'
    And the model answers "I may not."
    And the model answers "Nothing was found out."
    When the person says "Ask a specialist"
    Then the model once was told "POLICY_DENIED"
    And the specialist was offered "read_file"
    And the specialist was not offered "<tool>"
    And no tool was called
    And the session has no files
    And there is 1 plan

    Examples:
      | tool              | arguments                                   |
      | mail              | {}                                          |
      | stamp             | {}                                          |
      | write_file        | {"path": "a.txt", "content": "one"}         |
      | plan_create_draft | {"goal": "Mine"}                            |
      | plan_submit       | {}                                          |
      | ask_agent         | {"agent": "tester", "question": "Am I it?"} |

  Scenario: A specialist that is asked may only read after a crash as well
    Given a tool "mail" that changes things
    And the model calls "ask_agent" with '{"agent": "coder", "question": "How is it?"}'
    And the model hangs
    When the person types "Ask a specialist" and Planwright is killed while the model is thinking about reply 2
    Given the model calls "mail" with '{}'
    And the model answers "I may not."
    And the model answers "Nothing was found out."
    When Planwright continues what was interrupted
    Then the model once was told "POLICY_DENIED"
    And no tool was called
    And the person reads "Nothing was found out."

  Scenario: A specialist that is asked may only read in a conversation that continues after a restart
    Given a tool "mail" that changes things
    And the model calls "ask_agent" with '{"agent": "coder", "question": "How is it?"}'
    And the model answers "It is fine."
    And the model answers "Good."
    When the person says "Ask a specialist"
    And Planwright is restarted
    Given the model calls "ask_agent" with '{"agent": "coder", "question": "And now?"}'
    And the model calls "mail" with '{}'
    And the model answers "Still fine."
    And the model answers "Very good."
    When the person says "Ask again"
    Then the model once was told "POLICY_DENIED"
    And no tool was called
    And the model was once sent "You were asked before"
    And the person reads "Very good."

  Scenario: The planner itself only reads
    Given a tool "mail" that changes things
    And the model calls "mail" with '{}'
    And the model answers "I only plan."
    When the person says "Send a mail"
    Then the model was told "POLICY_DENIED"
    And the model was not offered "mail"
    And no tool was called

  Scenario Outline: Agents that do not exist are refused by name
    Given the model calls "<tool>" with '<arguments>'
    And the model answers "There is no such agent."
    When the person says "Plan it"
    Then the model was told "UNKNOWN_AGENT"
    And the model was told "<why>"
    And plan 1 is COLLECTING

    Examples:
      | tool          | arguments                                    | why                                 |
      | ask_agent     | {"agent": "gardener", "question": "How?"}    | there is no such agent              |
      | ask_agent     | {"agent": "planner", "question": "How?"}     | the planner cannot be given a step  |
      | ask_agent     | {"agent": "Coder", "question": "How?"}       | agents are coder, tester            |
      | plan_add_step | {"description": "Dig", "agent": "gardener"}  | there is no such agent              |
      | plan_add_step | {"description": "Plan", "agent": "planner"}  | the planner cannot be given a step  |

  Scenario: A blank question is not asked
    Given the model calls "ask_agent" with '{"agent": "coder", "question": "  "}'
    And the model answers "I had no question."
    When the person says "Plan it"
    Then the model was told "INVALID_ARGUMENT"
    And the model was asked 2 times

  Scenario: A specialist who gives no answer does not end the planning
    Given the model calls "ask_agent" with '{"agent": "coder", "question": "How?"}'
    And the model fails with "no credit left"
    And the model answers "I go on without."
    When the person says "Plan it"
    Then the model was told "coder gave no answer"
    And the person reads "I go on without."

  Scenario: No specialist is asked where no plan is built
    Given the person types "/plan on document"
    And the model calls "ask_agent" with '{"agent": "coder", "question": "How?"}'
    And the model answers "I cannot ask."
    When the person says "Plan it"
    Then the model was told "POLICY_DENIED"
    And the model was not offered "ask_agent"

  Scenario: A draft survives a stop of the planner, and the planning continues from it
    Given the model calls "plan_create_draft" with '{"goal": "Add a login"}'
    And the model calls "plan_add_step" with '{"description": "Write it", "agent": "coder"}'
    And the model hangs
    When the person types "Add a login" and the model is thinking about reply 3
    And the person types "/stop"
    Then what was under way ends
    And plan 1 is COLLECTING
    And the steps of plan 1 are "s1 Write it"
    Given the model calls "plan_add_step" with '{"description": "Test it", "agent": "tester"}'
    And the model answers "Two steps."
    When the person says "Go on"
    Then the model's instructions say "Plan 1 is COLLECTING"
    And the steps of plan 1 are "s1 Write it, s2 Test it"

  Scenario: A draft survives the end of the program, and the planner continues where it was
    Given the model calls "plan_create_draft" with '{"goal": "Add a login"}'
    And the model calls "plan_add_step" with '{"description": "Write it", "agent": "coder"}'
    And the model hangs
    When the person types "Add a login" and Planwright is killed while the model is thinking about reply 3
    Then the steps of plan 1 are "s1 Write it"
    Given the model calls "plan_add_step" with '{"description": "Test it", "agent": "tester"}'
    And the model answers "Two steps."
    When Planwright continues what was interrupted
    Then the person reads "Two steps."
    And the steps of plan 1 are "s1 Write it, s2 Test it"

  Scenario: A stop while a specialist is asked ends both
    Given the model calls "ask_agent" with '{"agent": "coder", "question": "How?"}'
    And the model hangs
    When the person types "Plan it" and the model is thinking about reply 2
    And the person types "/stop"
    Then what was under way ends
    And the turn ends as stopped
    Given the model answers "Here I am."
    When the person says "Are you there?"
    Then the person reads "Here I am."

  Scenario: A plan is taken up again by its id
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1)" is ready
    And the document "# Something quite different" is ready
    When the person types "/plan show" and the id of plan 1 and ""
    Then the person is shown plan 1
    And the plan that is shown says "Ship it"
    Given the model calls "plan_add_step" with '{"description": "Describe it", "agent": "writer"}'
    And the model calls "plan_submit" with '{}'
    When the person types "/plan revise" and the id of plan 1 and "describe it, too"
    Then the model's instructions say "describe it, too"
    And plan 1 is SUPERSEDED
    And plan 3 is READY
    And plan 3 supersedes plan 1
    And plan 3 is the active plan
    And the steps of plan 3 are "s1 Write it, s2 Test it, s3 Describe it"
    And plan 2 is READY

  Scenario: A step of an agent that is not there any more is not given to another agent
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it; writer: Describe it" is ready
    When the agents are changed to "coder, writer"
    And the person types "/plan approve 1"
    Then the person reads "cannot be carried out here"
    And the person reads "tester"
    And plan 1 is APPROVED
    And the model was asked 0 times
    When the person types "/plan resume 1"
    Then it is refused
    When the agents are changed to "coder, tester, writer"
    Given the model reports "done"
    And the model reports "done"
    And the model reports "done"
    When the person types "/plan resume 1"
    Then plan 1 is COMPLETED

  Scenario: Without the step of an agent that is not there any more, the rest can be done
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it; writer: Describe it" is ready
    And the agents are "coder, writer"
    And the model reports "done"
    And the model reports "done"
    When the person types "/plan approve 1 skip 2"
    Then plan 1 is COMPLETED
    And the model was asked 2 times
    And step 2 of plan 1 is SKIPPED

  Scenario: A draft that names an agent who is gone cannot be submitted
    Given the model calls "plan_set_metadata" with '{"goal": "Ship it", "assumptions": ["a"], "risks": ["b"], "verification": ["c"], "files": ["d"]}'
    And in the same reply it calls "plan_add_step" with '{"description": "Test it", "agent": "tester"}'
    And the model answers "Ready to be submitted."
    When the person says "Plan it"
    And the agents are changed to "coder, writer"
    Given the model calls "plan_submit" with '{}'
    And the model answers "The tester is gone."
    When the person says "Submit it"
    Then the model was told "tester"
    And plan 1 is COLLECTING

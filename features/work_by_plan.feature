Feature: Work by plan
  A person turns plan work on. The agent writes one Markdown document, which is the plan, and nothing but a
  tool call made for it ever changes that document. (Plan style "document".)

  Background:
    Given a session "web:k3yk3y8x"

  Scenario: Plan tools are only there while plan work is on
    Then the agent sees no plan tools
    When the person turns plan work on
    Then the agent sees the tools "plan_get, plan_set_content"
    When the person turns plan work off
    Then the agent sees no plan tools

  Scenario Outline: A plan tool that is called while plan work is off is denied and changes nothing
    When the agent calls "<tool>" with '<arguments>'
    Then the call is refused with POLICY_DENIED
    And nothing was written

    Examples:
      | tool             | arguments                    |
      | plan_get         | {}                           |
      | plan_set_content | {"plan_markdown": "# A plan"} |
      | plan_progress    | {"status": "done"}           |
      | plan_finalize    | {}                           |
      | plan_submit      | {}                           |

  Scenario: The tool that sets the plan says what it needs
    When the person turns plan work on
    Then the tool "plan_set_content" requires "plan_markdown"

  Scenario: The first text makes the plan ready
    When the person turns plan work on
    Then plan 1 is COLLECTING
    When the agent writes the plan "# Move house"
    Then plan 1 is READY
    And the plan reads "# Move house"

  Scenario: A ready plan is written over until it is approved, and every version is kept
    Given plan work is on
    When the agent writes the plan "# First"
    And the agent writes the plan "# Second"
    Then plan 1 is READY
    And the plan reads "# Second"
    And plan 1 has 2 versions

  Scenario Outline: A blank plan is refused and nothing changes
    Given plan work is on
    When the agent writes the plan "# First"
    And the agent calls "plan_set_content" with '<arguments>'
    Then the call is refused with INVALID_ARGUMENT
    And nothing was written
    And the plan reads "# First"

    Examples:
      | arguments               |
      | {"plan_markdown": ""}   |
      | {"plan_markdown": "  "} |

  Scenario Outline: New text for an approved plan makes a new plan, and the old one is superseded
    Given plan work is on
    And plan 1 was brought to <status>
    When the agent writes the plan "# Another way"
    Then plan 1 is SUPERSEDED
    And plan 2 is READY
    And plan 2 is the active plan
    And plan 2 supersedes plan 1
    And the plan reads "# Another way"

    Examples:
      | status              |
      | APPROVED            |
      | EXECUTING           |
      | PARTIALLY_COMPLETED |

  Scenario Outline: A finished plan takes no new text
    Given plan work is on
    And plan 1 was brought to <status>
    When the agent calls "plan_set_content" with '{"plan_markdown": "# Again"}'
    Then the call is refused with WRONG_STATUS
    And plan 1 is <status>

    Examples:
      | status    |
      | COMPLETED |
      | REJECTED  |
      | CANCELLED |

  Scenario: The plan survives a restart byte for byte, and so does plan work
    Given plan work is on
    When the agent writes the plan "# Tabs\tand – dashes\r\n\n- [ ] ünïcode ✓  \n"
    And Planwright is restarted
    Then plan work is on
    And plan 1 is the active plan
    And the plan reads "# Tabs\tand – dashes\r\n\n- [ ] ünïcode ✓  \n"

  Scenario: Ending plan work parks the plan, and it does not come back by itself
    Given plan work is on
    When the agent writes the plan "# Later"
    And the person says plan work is done
    And Planwright is restarted
    Then plan work is off
    And plan 1 is READY
    And no plan is active

  Scenario: Ending plan work with nothing written cancels the empty plan
    Given plan work is on
    When the person says plan work is done
    Then plan 1 is CANCELLED
    And plan work is off

  Scenario: Ending plan work while a plan is carried out closes it by what was done
    Given plan work is on
    And plan 1 was brought to EXECUTING
    When the person says plan work is done
    Then plan 1 is PARTIALLY_COMPLETED
    And plan work is off

  Scenario: Starting the conversation afresh cancels the active plan
    Given plan work is on
    When the agent writes the plan "# Old"
    And the person resets the conversation
    Then plan 1 is CANCELLED
    And plan work is off

  Scenario: However often plan work is turned on and off, an empty plan is used again
    When the person turns plan work on and off 20 times
    Then plan work is off
    And no plan is active
    When the person turns plan work on
    Then plan work is on
    And plan 1 is the active plan
    And there is 1 plan
    When the agent writes the plan "# Still works"
    Then plan 1 is READY
    When the person turns plan work off
    And the person turns plan work on
    Then plan 2 is the active plan
    And plan 1 is READY

  Scenario: There is at most one active plan
    Given plan work is on
    When the agent writes the plan "# One"
    And the person turns plan work on
    Then plan 2 is the active plan
    And plan 1 is READY
    When the agent writes the plan "# Two"
    Then plan 1 reads "# One"
    And plan 2 reads "# Two"
    When the person says plan work is done
    Then no plan is active
    And plan 1 is READY
    And plan 2 is READY

  Scenario: An empty plan is used again instead of being piled up
    Given plan work is on
    When the person turns plan work on
    Then there is 1 plan

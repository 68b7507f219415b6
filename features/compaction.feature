Feature: The plan survives compaction
  A conversation that grows too long is shortened. The plan is kept elsewhere and cannot be touched by it.

  Background:
    Given a session "cli:longtalk1"
    And the person types "/plan on"
    And the model calls "plan_set_content" with '{"plan_markdown": "# Keep me\n\n- [ ] byte for byte\t\n"}'
    And the model answers "The plan is there."
    And the person says "Plan it"

  Scenario: Compaction on demand keeps the plan byte for byte
    Given the person has talked for 10 turns
    And the model answers "They talked about the move."
    When the person types "/compact"
    Then the person reads "summarised"
    Given the model calls "plan_get" with '{}'
    And the model answers "Here it is."
    When the person says "What is the plan?"
    Then the model was sent "They talked about the move."
    And the model's instructions say "Plan 1 is READY"
    And the model was told "byte for byte"
    And plan 1 reads "# Keep me\n\n- [ ] byte for byte\t\n"
    And plan work is on

  Scenario: When the model cannot summarise, the conversation is shortened without it
    Given the person has talked for 10 turns
    And the model fails with "no answer"
    When the person types "/compact"
    Then the person reads "summarised"
    And plan 1 reads "# Keep me\n\n- [ ] byte for byte\t\n"

  Scenario: A finished plan is named as finished after compaction
    Given plan 1 was approved and cancelled
    And the person has talked for 10 turns
    And the model answers "They planned the move."
    And the model answers "No."
    And the model answers "Nothing."
    When the person types "/compact"
    And the person says "Is there anything left to do?"
    Then the model's instructions say "Plan 1 is CANCELLED"
    And the model's instructions say "do not take it up again"
    When the person types "/plan on"
    And the person says "And now?"
    Then the model's instructions say "These plans are over"
    And the model's instructions say "plan 1 is CANCELLED"

  Scenario: Compaction does not turn plan work on or bring a parked plan back
    Given the person types "/plan off"
    And the person has talked for 10 turns
    And the model answers "They talked."
    And the model answers "Yes."
    When the person types "/compact"
    And the person says "Are you there?"
    Then plan work is off
    And the model's instructions say "Plan work is off"
    And the model was not offered "plan_get"

Feature: Collecting a plan
  Every tool call is written down as a step instead of being run, until the agent says that the plan is complete.
  Nothing runs before a person has approved it. (Plan style "collect".)

  Background:
    Given a session "web:c0llect0"
    And plan work is on in style collect

  Scenario: Only the plan's own tools are advertised by Planwright itself
    Then the agent sees the tools "plan_get, plan_finalize"

  Scenario: Calls are recorded in order with exactly their arguments, and none is run
    When the agent calls "write_file" with '{"path": "a.txt", "content": "one"}'
    Then the answer says "[Planned]"
    When the agent calls "send_mail" with '{"to": ["ann", "bob"], "urgent": true}'
    Then the answer says "[Planned]"
    And plan 1 has the steps
      | write_file | {"path": "a.txt", "content": "one"}    |
      | send_mail  | {"to": ["ann", "bob"], "urgent": true} |
    And plan 1 is COLLECTING

  Scenario: Finalising makes the plan ready for a person
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And the agent calls "plan_finalize" with '{"summary": "Write a file"}'
    Then plan 1 is READY
    And the answer has "status" "READY"
    And the plan's text says "Write a file"
    And the plan's text says "write_file"

  Scenario: Finalising needs no summary
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And the agent calls "plan_finalize" with '{}'
    Then plan 1 is READY

  Scenario: Finalising with nothing collected cancels the plan and ends the mode
    When the agent calls "plan_finalize" with '{}'
    Then plan 1 is CANCELLED
    And plan work is off
    And the agent sees no plan tools

  Scenario: A plan that is never finalised stays as it is
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And Planwright is restarted
    Then plan 1 is COLLECTING
    And plan work is on
    When the person turns plan work off
    Then plan 1 is COLLECTING

  Scenario: Finalising outside of plan work is denied and changes nothing
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And the person turns plan work off
    And the agent calls "plan_finalize" with '{}'
    Then the call is refused with POLICY_DENIED
    And nothing was written
    And plan 1 is COLLECTING

  Scenario: A ready plan takes no more steps
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And the agent calls "plan_finalize" with '{}'
    And the agent calls "write_file" with '{"path": "b.txt"}'
    Then the call is refused with WRONG_STATUS
    And nothing was written

  Scenario: Tools of the other styles are denied and never recorded as steps
    When the agent calls "plan_set_content" with '{"plan_markdown": "# No"}'
    Then the call is refused with POLICY_DENIED
    And nothing was written

  Scenario: A person approves some of the steps
    When the agent calls "read_page" with '{"n": 1}'
    And the agent calls "read_page" with '{"n": 2}'
    And the agent calls "read_page" with '{"n": 3}'
    And the agent calls "plan_finalize" with '{}'
    And the person approves plan 1 only "1,3"
    Then plan 1 is APPROVED
    And step 2 of plan 1 is SKIPPED
    And step 3 of plan 1 is PENDING

  Scenario: Asking for changes to a collected plan collects it anew
    When the agent calls "write_file" with '{"path": "a.txt"}'
    And the agent calls "plan_finalize" with '{}'
    And the person asks for changes to plan 1 with "not that file"
    Then plan 1 is SUPERSEDED
    And plan 2 is COLLECTING
    And plan 2 is the active plan
    When the agent calls "plan_get" with '{}'
    Then the answer has "feedback" "not that file"

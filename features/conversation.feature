Feature: Working by a plan in a conversation
  The agent talks with a person and works with tools. What it plans is kept by Planwright, not by what is said.

  Background:
    Given a session "cli:talking01"

  Scenario: A person asks and the agent answers
    Given the model answers "Good morning."
    When the person says "Hello"
    Then the turn ends as answered
    And the person reads "Good morning."
    And the model was sent "Hello"

  Scenario: Plan tools are only there while plan work is on
    Given the model answers "Hello."
    And the model answers "Hello again."
    When the person says "Hello"
    Then the model was offered "read_file"
    And the model was not offered "plan_get"
    When the person types "/plan on"
    And the person says "Hello"
    Then the model was offered "plan_get"
    And the model was offered "plan_set_content"
    And the model was not offered "plan_finalize"

  Scenario: A plan tool that is called while plan work is off changes nothing
    Given the model calls "plan_set_content" with '{"plan_markdown": "# Mine"}'
    And the model answers "I cannot."
    When the person says "Plan something"
    Then the model was told "POLICY_DENIED"
    And there are no plans

  Scenario: A document is stored in its own call, whatever the model says afterwards
    Given the person types "/plan on"
    And the model says "I drafted it." and calls "plan_set_content" with '{"plan_markdown": "# Move\n\n- [ ] one"}'
    And the model calls "list_files" with '{}'
    And the model answers "Have a look."
    When the person says "Plan the move"
    Then plan 1 is READY
    And plan 1 reads "# Move\n\n- [ ] one"
    And the person reads "Have a look."
    And the person is shown plan 1
    And the person may type "/plan approve 1"

  Scenario: What the model says about a plan is not what the person is shown
    Given the person types "/plan on"
    And the model calls "plan_set_content" with '{"plan_markdown": "# Delete everything"}'
    And the model answers "The plan is harmless, and it is approved."
    When the person says "Plan something"
    Then plan 1 is READY
    And the person is shown plan 1
    And the plan that is shown says "Delete everything"

  Scenario: Collected steps are written down and not run
    Given the person types "/plan on collect"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And in the same reply it calls "write_file" with '{"path": "b.txt", "content": "two"}'
    And the model says "Two files." and calls "plan_finalize" with '{}'
    When the person says "Write two files"
    Then the turn ends as plan_ready
    And plan 1 is READY
    And plan 1 has the steps
      | write_file | {"path": "a.txt", "content": "one"} |
      | write_file | {"path": "b.txt", "content": "two"} |
    And the model was told "[Planned]"
    And the session has no files
    And the person reads "Two files."
    And the person is shown plan 1

  Scenario: A summary given with plan_finalize is read by the person
    Given the person types "/plan on collect"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{"summary": "Writes a file"}'
    When the person says "Write a file"
    Then plan 1 is READY
    And the person reads "Writes a file"

  Scenario: plan_finalize with nothing collected cancels the plan
    Given the person types "/plan on collect"
    And the model calls "plan_finalize" with '{}'
    When the person says "Do nothing"
    Then the turn ends as nothing_planned
    And plan 1 is CANCELLED
    And plan work is off
    And the person reads "No step was proposed"

  Scenario: A model that never finalises leaves the plan collecting
    Given the person types "/plan on collect"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model answers "That is all."
    When the person says "Write a file"
    Then plan 1 is COLLECTING
    And plan work is on
    And the session has no files

  Scenario: A proposal is built step by step, and every missing part is named at once
    Given the person types "/plan on build"
    And the model calls "plan_create_draft" with '{"goal": "Ship it"}'
    And the model calls "plan_submit" with '{}'
    And the model answers "Parts are missing."
    When the person says "Ship it"
    Then plan 1 is COLLECTING
    And the model was told "/steps"

  Scenario: A turn continues after a call of a tool that does not exist
    Given the model calls "make_coffee" with '{}'
    And the model answers "I have no such tool."
    When the person says "Coffee, please"
    Then the model was told "There is no tool"
    And the turn ends as answered

  Scenario: Arguments that are no JSON are told to the model
    Given the model calls "read_file" with the text "{path: a.txt"
    And the model answers "Sorry."
    When the person says "Read it"
    Then the model was told "not valid JSON"
    And the turn ends as answered

  Scenario: A model that fails ends the turn in words, and the next message works
    Given the model fails with "the key was not accepted"
    And the model answers "Here I am."
    When the person says "Hello"
    Then the turn ends as model_failed
    And the person reads "the key was not accepted"
    When the person says "Hello again"
    Then the person reads "Here I am."

  Scenario: A model that asks for the same thing for ever is stopped
    Given the model calls "list_files" with '{}' again and again
    When the person says "Look"
    Then the turn ends as looping
    And the person reads "the same thing"

  Scenario: What a person types with a slash never reaches the model
    When the person types "/plan status"
    Then the person reads "off"
    And the model was not called

  Scenario: A mistyped command is answered with what was probably meant
    When the person types "/plan aprove 1"
    Then the person reads "/plan approve 1"
    And the model was not called

  Scenario: Feedback reaches the model
    Given the person types "/plan on"
    And the model calls "plan_set_content" with '{"plan_markdown": "# One"}'
    And the model answers "There."
    And the model calls "plan_set_content" with '{"plan_markdown": "# Two"}'
    And the model answers "Changed."
    When the person says "Plan it"
    And the person types "/plan revise #1 make it two"
    Then the model's instructions once said "make it two"
    And plan 1 reads "# Two"

  Scenario: An approval is for the version that was shown
    Given the person types "/plan on"
    And the model calls "plan_set_content" with '{"plan_markdown": "# One"}'
    And the model answers "There."
    When the person says "Plan it"
    And the agent writes the plan "# Something else"
    And the person types "/plan approve"
    Then plan 1 is READY
    And the person is shown plan 1
    And the plan that is shown says "Something else"
    And plan 1 is not approved
    When the person types "/plan approve"
    Then the approval of plan 1 was given by the person "ann"

  Scenario: After a restart the conversation and the plan are as they were
    Given the person types "/plan on"
    And the model calls "plan_set_content" with '{"plan_markdown": "# One"}'
    And the model answers "There."
    And the model answers "I remember."
    When the person says "My name is Ada"
    And Planwright is restarted
    And the person says "Who am I?"
    Then the model was sent "My name is Ada"
    And the model's instructions say "Plan 1 is READY"

  Scenario: A new session knows nothing of the one before
    Given the model answers "Noted."
    And the model answers "I do not know."
    When the person says "The word is swordfish"
    And the person types "/new"
    And the person says "What is the word?"
    Then the model was not sent "swordfish"

  Scenario: A deleted session takes everything along, and the person is back in the one before
    Given the person types "/new"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model answers "Written."
    When the person says "Write a file"
    Then the file "a.txt" reads "one"
    When the session is deleted
    Then the person arrives in "cli:talking01"
    And the deleted session has no files

  Scenario: Approved calls are carried out exactly as they were recorded
    Given the person types "/plan on collect"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And in the same reply it calls "write_file" with '{"path": "b.txt", "content": "two"}'
    And the model calls "plan_finalize" with '{}'
    When the person says "Write two files"
    Then the session has no files
    When the person types "/plan approve skip 2"
    Then plan 1 is COMPLETED
    And the person reads "1 done, 1 skipped"
    And the file "a.txt" reads "one"
    And there is no file "b.txt"

  Scenario: Nothing is carried out that is not approved
    Given the person types "/plan on collect"
    And the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{}'
    When the person says "Write a file"
    And the person types "/plan resume"
    Then plan 1 is READY
    And the session has no files

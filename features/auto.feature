Feature: The agent works by itself, within bounds
  A person sets goals and tasks and starts runs. A run works in its session's own queue and memory scopes, never overlaps the
  person, pauses at its limits and can always be stopped.

  Background:
    Given a session "cli:f1rst000"
    And a session "cli:sec0nd00"
    And the person is in "cli:f1rst000"

  Scenario: /auto on without a goal is a TASK_RUN
    Given the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/task add Renew the certificate"
    And the person types "/auto on"
    Then the person reads "Run 1 (TASK_RUN) is started"
    And run 1 ends as "completed"
    And in "cli:sec0nd00" there are no runs

  Scenario: /auto on with a goal is a GOAL_RUN
    Given the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/goal add No warnings"
    And the person types "/auto on"
    Then the person reads "Run 1 (GOAL_RUN) is started"
    And run 1 ends as "completed"

  Scenario: /auto on standalone creates isolated task memory
    Given the model calls "memory_save" with '{"content":"The parser has nine failing tests.","kind":"result"}'
    And the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/task add Look at the parser"
    And the person types "/auto on"
    Then run 1 ends as "completed"
    And the task of run 1 finds "The parser has nine failing tests." for "parser"
    And in "cli:f1rst000" a search for "parser" finds nothing
    And in "cli:sec0nd00" a search for "parser" finds nothing

  Scenario: Two tasks under same goal share goal scope but keep task-private details
    Given the model calls "memory_save" with '{"content":"We keep the old parser.","kind":"decision"}'
    And the model calls "memory_save" with '{"content":"The parser of part one is slow.","kind":"result"}'
    And the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    And the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/goal add The parser"
    And the person types "/task add #1 part one"
    And the person types "/task add #1 part two"
    And the person types "/auto on"
    Then run 1 ends as "completed"
    And the task of run 1 finds "We keep the old parser." for "parser"
    And in "cli:f1rst000" a search for "parser" finds nothing

  Scenario: Simultaneous /auto off and scheduler tick
    Given the model hangs
    When the person types "/task add Look around"
    And the person types "/auto on"
    And the model is thinking about reply 1
    And the person types "/auto off"
    Then the person reads "Run 1 is stopped."
    And run 1 ends as "stopped"
    And the model was asked 1 time in all

  Scenario: A restart lists runs as interrupted
    Given the model hangs
    When the person types "/task add Look around"
    And the person types "/auto on"
    And the model is thinking about reply 1
    And the process of the run dies
    And the person types "/auto status"
    Then the person reads "run 1 (TASK_RUN) is interrupted"
    And the person reads "`/auto resume 1`: Continue"

  Scenario: A run that makes no progress pauses and stands in the inbox
    Given the model answers "Still working."
    And the model answers "Still working."
    And the model answers "Still working."
    When the person types "/task add Look around"
    And the person types "/auto on"
    Then run 1 is paused because "3 turns in a row made no progress"
    And run 1 stands in the inbox

  Scenario: Nothing starts while a plan waits for a person
    When the person types "/plan on"
    And the agent writes the plan "# Move\n\n1. Pack\n"
    And the person types "/auto on"
    Then the person is refused with WRONG_STATUS
    And in "cli:f1rst000" there are no runs

  Scenario: A goal never crosses sessions
    When the person types "/goal add Here only"
    And the person goes to "cli:sec0nd00"
    And the person types "/auto on 1"
    Then the person is refused with NOT_FOUND
    And in "cli:sec0nd00" there are no runs

  Scenario: Deleting a session ends its runs and leaves nothing of it
    Given the model hangs
    When the person types "/task add Look around"
    And the person types "/auto on"
    And the model is thinking about reply 1
    And the person writes "Look elsewhere" into the tasks of "cli:sec0nd00"
    And in another process the session "cli:f1rst000" is deleted
    Then there is no session "cli:f1rst000"
    And no run of "cli:f1rst000" is driven any more
    And nothing of "cli:f1rst000" is left in the store
    And "cli:sec0nd00" is as it was

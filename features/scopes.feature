Feature: Sessions, goals and tasks are kept apart
  Everything that runs belongs to one session. Scopes have one spelling, are read in one order, and nothing of a run is left
  when it is over.

  Background:
    Given a session "cli:f1rst000"
    And a session "cli:sec0nd00"
    And the person is in "cli:f1rst000"

  Scenario Outline: Canonical scope generation for session, goal and task
    Then the scope of <what> is "<scope>"
    And "<scope>" is read as the scope of <what>

    Examples:
      | what          | scope                   |
      | the session   | session:cli:f1rst000    |
      | the goal "G1" | goal:cli:f1rst000:G1    |
      | the task "T1" | task:T1                 |

  Scenario Outline: Retrieval order for GOAL_RUN and TASK_RUN
    Then <reader> reads "<scopes>"

    Examples:
      | reader                               | scopes                               |
      | a GOAL_RUN                           | task -> goal -> session -> global    |
      | a TASK_RUN                           | task -> session -> global            |
      | an ordinary turn                     | session -> global                    |

  Scenario Outline: What is found comes in this order, however well it matches
    When in "cli:f1rst000" a person promoted "The parser parses what the parser of the parser parses, says the parser."
    And in "cli:f1rst000" the agent remembers "The parser fact: the parser, the parser, the parser."
    And the task "T1" of the goal "G1" remembers the decision "A decision about the parser and the parser."
    And the task "T1" of the goal "G1" remembers the result "In passing a word about many other things, and one about a parser too."
    Then <reader> finds for "parser" in this order "<scopes>"

    Examples:
      | reader                               | scopes                               |
      | a GOAL_RUN                           | task -> goal -> session -> global    |
      | a TASK_RUN                           | task -> session -> global            |
      | an ordinary turn                     | session -> global                    |

  Scenario: What a GOAL_RUN finds comes from its whole chain and from nowhere else
    When the task "T1" of the goal "G1" remembers the result "The parser result."
    And the task "T1" of the goal "G1" remembers the decision "The parser decision."
    And in "cli:f1rst000" the agent remembers "The parser fact."
    And in "cli:sec0nd00" the agent remembers "The parser of another session."
    And the person goes to "cli:f1rst000"
    Then the task "T1" of the goal "G1" finds 3 memories for "parser"
    And the task "T2" of the goal "G1" finds 2 memories for "parser"
    And the task "T3" finds 1 memories for "parser"

  Scenario: Run registry behavior and cleanup
    Given the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/task add Renew the certificate"
    And the person types "/auto on"
    Then run 1 ends as "completed"
    And no run of the session is driven any more
    And in "cli:sec0nd00" there are no runs

  Scenario: First slash command in new session routes correctly and binds mapping
    When the person types "/new"
    And the person types "/plan on"
    Then plan work is on
    And the person's chat is bound to the session they are in
    And in "cli:f1rst000" plan work is off

  Scenario: /plan on in session A does not affect session B
    When the person types "/plan on"
    Then plan work is on
    And in "cli:sec0nd00" plan work is off

  Scenario: Deleting active session repairs pointer and preserves invariants
    Given the person is in "cli:sec0nd00"
    When the person types "/task add Renew the certificate"
    And in another process the session "cli:sec0nd00" is deleted
    Then there is no session "cli:sec0nd00"
    And the person arrives in "cli:f1rst000"
    And in "cli:f1rst000" there are no runs

  Scenario: Stale pointer during command execution
    Given the person is in "cli:sec0nd00"
    When in another process the session "cli:sec0nd00" is deleted
    And the person types "/auto on" where they still are
    Then the command is refused with NOT_FOUND
    And there is no session "cli:sec0nd00"
    And in "cli:f1rst000" there are no runs

  Scenario: Legacy conversation key read compatibility
    Given a session "web:old" that was imported from an earlier version
    When in "web:old" the agent remembers "The till is red."
    Then in "web:old" a search for "till" finds "The till is red."
    And in "cli:f1rst000" a search for "till" finds nothing

  Scenario: Outgoing WS events always include sessionId
    Given the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    And a browser is connected, which follows "cli:f1rst000" and "cli:sec0nd00"
    When the person types "/task add Renew the certificate"
    And the person types "/auto on"
    Then run 1 ends as "completed"
    And the browser gets the frames "task_added", "run_started", "turn_begun", "task_changed" and "run_ended" of "cli:f1rst000"
    And every frame that the browser got has a sessionId, and none is of "cli:sec0nd00"

Feature: Memory has scopes
  What is remembered in one session is never read in another, unless a person promotes it. Tasks of one goal share what the
  goal knows and nothing else.

  Scenario: What a session remembers is found in it and nowhere else
    Given a session "web:sess10na"
    And a session "telegram:sess10nb"
    When in "web:sess10na" the agent remembers "The till in the cellar is called Hedwig."
    Then in "web:sess10na" a search for "what is the till called" finds "The till in the cellar is called Hedwig."
    And in "telegram:sess10nb" a search for "what is the till called" finds nothing

  Scenario: A task of its own never reads another task
    Given a session "web:sess10na"
    When the task "T1" remembers the result "The parser passes its tests."
    Then the task "T1" finds "The parser passes its tests." for "parser"
    And the task "T2" finds nothing for "parser"
    And in "web:sess10na" a search for "parser" finds nothing

  Scenario: The tasks of a goal share the goal's decisions and nothing else
    Given a session "web:sess10na"
    When the task "T1" of the goal "G1" remembers the decision "We keep the old parser."
    And the task "T1" of the goal "G1" remembers the result "The parser has nine failing tests."
    Then the task "T2" of the goal "G1" finds "We keep the old parser." for "parser"
    And the task "T2" of the goal "G2" finds nothing for "parser"
    And the task "T3" finds nothing for "parser"

  Scenario: A goal never crosses sessions
    Given a session "web:sess10na"
    And a session "web:sess10nb"
    When in "web:sess10na" the task "T1" of the goal "G1" remembers the decision "We keep the old parser."
    Then in "web:sess10nb" the task "T1" of the goal "G1" finds nothing for "parser"

  Scenario: Only a person's promotion writes global, and it can be taken back
    Given a session "web:sess10na"
    And a session "web:sess10nb"
    When in "web:sess10na" the agent remembers "The office closes at noon on Fridays."
    And in "web:sess10na" the agent promotes what is remembered
    Then the command is refused with POLICY_DENIED
    And in "web:sess10nb" a search for "office" finds nothing
    When in "web:sess10na" the person promotes what is remembered
    Then in "web:sess10nb" a search for "office" finds "The office closes at noon on Fridays."
    When in "web:sess10na" the person takes the last change of the memory back
    Then in "web:sess10nb" a search for "office" finds nothing

  Scenario Outline: A malformed scope is refused and never read as global
    Given a session "web:sess10na"
    When a person saves "For everyone." in the scope "<scope>"
    Then the command is refused with <code>

    Examples:
      | scope                | code             |
      | global               | POLICY_DENIED    |
      | Global               | INVALID_ARGUMENT |
      | session:web          | INVALID_ARGUMENT |
      | session:web:sess10nb | NOT_FOUND        |
      | task:T9              | NOT_FOUND        |

  Scenario: What is forgotten comes back after an undo, also after a restart
    Given a session "web:sess10na"
    When in "web:sess10na" the agent remembers "The till is red."
    And in "web:sess10na" the person forgets what is remembered
    Then in "web:sess10na" a search for "till" finds nothing
    When Planwright is restarted
    And in "web:sess10na" the person takes the last change of the memory back
    Then in "web:sess10na" a search for "till" finds "The till is red."

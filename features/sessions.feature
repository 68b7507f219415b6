Feature: Sessions are apart
  What happens in one session never shows in another.

  Scenario: Turning plan work on in one session changes nothing in another
    Given a session "web:sess10na"
    And a session "telegram:sess10nb"
    When in "web:sess10na" the person turns plan work on
    Then in "web:sess10na" plan work is on
    And in "telegram:sess10nb" plan work is off
    And in "telegram:sess10nb" the agent sees no plan tools

  Scenario: The same key on two channels is two sessions
    Given a session "web:samekey1"
    And a session "cli:samekey1"
    When in "web:samekey1" the person turns plan work on
    Then in "cli:samekey1" plan work is off

  Scenario: A plan of another session is not found, the same as one that does not exist
    Given a session "web:sess10na"
    And a session "web:sess10nb"
    When in "web:sess10na" the agent has written the plan "# Secret"
    And in "web:sess10nb" the person approves the plan of "web:sess10na"
    Then the decision is refused with NOT_FOUND
    When in "web:sess10nb" the person approves a plan that does not exist
    Then the decision is refused with NOT_FOUND

  Scenario: Each session numbers its own plans
    Given a session "web:sess10na"
    And a session "web:sess10nb"
    When in "web:sess10na" the agent has written the plan "# A"
    And in "web:sess10nb" the agent has written the plan "# B"
    Then in "web:sess10na" plan 1 reads "# A"
    And in "web:sess10nb" plan 1 reads "# B"

  Scenario Outline: New sessions have keys of eight characters and more
    When a client opens the session "<session>"
    Then the decision is refused with <code>

    Examples:
      | session     | code             |
      | web:short   | NOT_FOUND        |
      | web:1234567 | NOT_FOUND        |

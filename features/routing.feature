Feature: Who is where
  A transport (a terminal, a chat, a connection) points to the session it is in. What is typed takes effect in the session
  it was typed in, whatever happens to the pointer meanwhile.

  Background:
    Given a session "cli:f1rst000"
    And a session "cli:sec0nd00"
    And the person is in "cli:f1rst000"

  Scenario: /switch and /plan on at the same time
    When the person types "/switch sec0nd00" and "/plan on" at the same time
    Then in "cli:f1rst000" plan work is on
    And in "cli:sec0nd00" plan work is off
    And the person arrives in "cli:sec0nd00"

  Scenario: /plan on and /switch at the same time, the other way round
    When the person types "/plan on" and "/switch sec0nd00" at the same time
    Then in "cli:f1rst000" plan work is on
    And in "cli:sec0nd00" plan work is off
    And the person arrives in "cli:sec0nd00"

  Scenario: Two devices of the same person switch and plan at the same time
    When the person types "/switch sec0nd00" here and "/plan on" at another place in "cli:f1rst000" at the same time
    Then in "cli:f1rst000" plan work is on
    And in "cli:sec0nd00" plan work is off
    And the person arrives in "cli:sec0nd00"

  Scenario: A command for a session that was deleted meanwhile changes nothing, and the pointer is repaired
    Given the person is in "cli:sec0nd00"
    When in another process the session "cli:sec0nd00" is deleted
    And the person types "/plan on" where they still are
    Then the command is refused with NOT_FOUND
    And there is no session "cli:sec0nd00"
    And in "cli:f1rst000" plan work is off
    And the person arrives in "cli:f1rst000"

  Scenario: A session that is deleted while it answers ends its turn, and nothing of it is left
    Given the person is in "cli:sec0nd00"
    And the model hangs
    When the person types "Hello" and the model is thinking about reply 1
    And in another process the session "cli:sec0nd00" is deleted
    Then the turn under way ends
    And there is no session "cli:sec0nd00"
    And the person arrives in "cli:f1rst000"

  Scenario: A client that follows several sessions and goes away takes nothing along
    Given a client follows "cli:f1rst000" and "cli:sec0nd00"
    And another client follows "cli:f1rst000" and "cli:sec0nd00"
    Then 4 sessions of clients are followed
    When the first client disconnects
    Then 2 sessions of clients are followed
    When in "cli:f1rst000" the person turns plan work on
    And in "cli:sec0nd00" the person turns plan work on
    Then the other client is told of "plan_mode_enabled" in "cli:f1rst000"
    And the other client is told of "plan_mode_enabled" in "cli:sec0nd00"
    When the other client disconnects
    Then nothing is followed any more

  Scenario: A turn continues when the client that asked disconnects
    Given a client follows "cli:f1rst000" and "cli:sec0nd00"
    And another client follows "cli:f1rst000" and "cli:sec0nd00"
    And when it is released the model answers "Here I am."
    When the first client sends "Hello" and the model is thinking about reply 1
    And the first client disconnects
    And what waits is released
    Then the other client is told of "turn_ended" in "cli:f1rst000"
    And the model's answer "Here I am." is stored in "cli:f1rst000"

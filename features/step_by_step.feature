Feature: Step by step
  A person may approve a plan step by step. Then the work pauses after each step, so that the person can look at it; it goes
  on with one step when the person says so, and with none before.

  Background:
    Given a session "cli:stepbyst3p"

  Scenario: Recorded calls are made one at a time, each after a go
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {"to": "ann"}; mail {"to": "bob"}' is ready
    When the person types "/plan approve step by step"
    Then the person first reads "It pauses after each step"
    And the person reads "It is paused after step 1"
    And plan 1 waits after step 1
    And the calls were
      | mail | {"to": "ann"} |
    When the person types "/plan resume"
    Then plan 1 is COMPLETED
    And the calls were
      | mail | {"to": "ann"} |
      | mail | {"to": "bob"} |

  Scenario: The turn that works from a document ends after each step
    Given the document "# Move\n\n- [ ] pack\n- [ ] load" is ready
    And the model reports "done: two boxes"
    When the person types "/plan approve step by step"
    Then the model was asked 1 time
    And plan 1 waits after step 1
    And the person reads "`/plan resume 1`: Continue with step 2"
    And the person reads "WHAT TO CHANGE`: Request changes"
    And the person reads "`/plan resume 1 stop`: Stop here"
    Given the model reports "done"
    And the model answers "Everything is loaded."
    When the person types "/plan resume 1"
    Then plan 1 is COMPLETED

  Scenario: Each specialist works after the person has looked at the step before
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1)" is ready
    And the model reports "done: wrote main.rs"
    When the person types "/plan approve 1 step by step -- carefully"
    Then the model was asked 1 time
    And plan 1 waits after step 1
    Given the model reports "done: all green"
    When the person types "/plan resume"
    Then plan 1 is COMPLETED

  Scenario: An agent that tries to continue without a go is told to wait
    Given the document "- [ ] pack\n- [ ] load" is ready
    And the model reports "done"
    When the person types "/plan approve step by step"
    Given the model reports "done"
    And the model answers "I wait for you."
    When the person says "How is it going?"
    Then plan 1 waits after step 1
    And step 2 of plan 1 is PENDING

  Scenario: Nothing begins by itself after a restart
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {"to": "ann"}; mail {"to": "bob"}' is ready
    When the person types "/plan approve step by step"
    And Planwright is restarted
    Then plan 1 waits after step 1
    When the person types "/plan status"
    Then the person reads "It is paused after step 1"
    And the calls were
      | mail | {"to": "ann"} |

  Scenario Outline: Instead of a go the person ends the work
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {"to": "ann"}; mail {"to": "bob"}' is ready
    When the person types "/plan approve step by step"
    And the person types "<words>"
    Then plan 1 is <status>
    And the calls were
      | mail | {"to": "ann"} |

    Examples:
      | words               | status              |
      | /plan resume 1 stop | PARTIALLY_COMPLETED |
      | /stop               | PARTIALLY_COMPLETED |
      | /plan cancel 1      | CANCELLED           |

  Scenario: Instead of a go the person changes the rest
    Given the document "- [ ] pack\n- [ ] load" is ready
    And the model reports "done"
    When the person types "/plan approve step by step"
    Given the model answers "Tell me more."
    When the person types "/plan revise load the piano first"
    Then plan 1 is SUPERSEDED

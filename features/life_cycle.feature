Feature: The life cycle of a plan
  One table says what can be done with a plan in which status. Every cell of it is walked through here, with real calls of
  the model and real commands of a person, in every style where it differs.

  Background:
    Given a session "web:l1fecycl"

  Scenario Outline: What cannot be done in a status is refused, and nothing changes
    Given a plan in style <style> that is <status>
    When an actor tries to <actions>
    Then each is refused with WRONG_STATUS
    And plan 1 is <status>
    And nothing is written but what was said

    Examples: One document
      | style    | status              | actions                                       |
      | document | COLLECTING          | approve, reject, execute |
      | document | READY               | execute |
      | document | APPROVED            | approve, reject |
      | document | EXECUTING           | approve, reject |
      | document | PARTIALLY_COMPLETED | approve, reject |
      | document | COMPLETED           | set content, approve, reject, execute, cancel |
      | document | REJECTED            | set content, approve, reject, execute, cancel |
      | document | CANCELLED           | set content, approve, reject, execute, cancel |
      | document | SUPERSEDED          | approve, reject, execute, cancel |

    Examples: Recorded calls
      | style    | status              | actions |
      | collect  | COLLECTING          | approve, reject, execute |
      | collect  | READY               | record a step, finalize, execute |
      | collect  | APPROVED            | record a step, finalize, approve, reject |
      | collect  | EXECUTING           | record a step, finalize, approve, reject |
      | collect  | PARTIALLY_COMPLETED | record a step, finalize, approve, reject |
      | collect  | COMPLETED           | record a step, finalize, approve, reject, execute, cancel |
      | collect  | REJECTED            | record a step, finalize, approve, reject, execute, cancel |
      | collect  | CANCELLED           | record a step, finalize, approve, reject, execute, cancel |
      | collect  | SUPERSEDED          | approve, reject, execute, cancel |

    Examples: A proposal
      | style    | status              | actions |
      | build    | COLLECTING          | approve, reject, execute |
      | build    | READY               | edit the draft, submit, execute |
      | build    | APPROVED            | edit the draft, submit, approve, reject |
      | build    | EXECUTING           | edit the draft, submit, approve, reject |
      | build    | PARTIALLY_COMPLETED | edit the draft, submit, approve, reject |
      | build    | COMPLETED           | edit the draft, submit, approve, reject, execute, cancel |
      | build    | REJECTED            | edit the draft, submit, approve, reject, execute, cancel |
      | build    | CANCELLED           | edit the draft, submit, approve, reject, execute, cancel |
      | build    | SUPERSEDED          | approve, reject, execute, cancel |

  Scenario Outline: What can be done in a status
    Given a plan in style <style> that is <status>
    When an actor tries to <action>
    Then nothing is refused
    And plan 1 is <becomes>

    Examples: While it is drafted
      | style    | status     | action         | becomes    |
      | document | COLLECTING | set content    | READY      |
      | collect  | COLLECTING | record a step  | COLLECTING |
      | build    | COLLECTING | edit the draft | COLLECTING |
      | collect  | COLLECTING | finalize       | READY      |
      | build    | COLLECTING | submit         | READY      |
      | document | READY      | set content    | READY      |

    Examples: A person decides
      | style    | status | action  | becomes  |
      | document | READY  | approve | APPROVED |
      | collect  | READY  | approve | APPROVED |
      | build    | READY  | approve | APPROVED |
      | document | READY  | reject  | REJECTED |
      | collect  | READY  | reject  | REJECTED |
      | build    | READY  | reject  | REJECTED |

    Examples: Until it is finished, it can be cancelled
      | style    | status              | action | becomes   |
      | document | COLLECTING          | cancel | CANCELLED |
      | collect  | COLLECTING          | cancel | CANCELLED |
      | build    | COLLECTING          | cancel | CANCELLED |
      | document | READY               | cancel | CANCELLED |
      | collect  | READY               | cancel | CANCELLED |
      | build    | READY               | cancel | CANCELLED |
      | document | APPROVED            | cancel | CANCELLED |
      | collect  | APPROVED            | cancel | CANCELLED |
      | build    | APPROVED            | cancel | CANCELLED |
      | document | EXECUTING           | cancel | CANCELLED |
      | collect  | EXECUTING           | cancel | CANCELLED |
      | build    | EXECUTING           | cancel | CANCELLED |
      | document | PARTIALLY_COMPLETED | cancel | CANCELLED |
      | collect  | PARTIALLY_COMPLETED | cancel | CANCELLED |
      | build    | PARTIALLY_COMPLETED | cancel | CANCELLED |

  Scenario Outline: A new text for a document that was approved is a new plan, which waits for a person
    Given a plan in style document that is <status>
    When an actor tries to set content
    Then nothing is refused
    And plan 1 is SUPERSEDED
    And plan 2 is READY
    And plan 2 supersedes plan 1
    And plan 2 is the active plan

    Examples:
      | status              |
      | APPROVED            |
      | EXECUTING           |
      | PARTIALLY_COMPLETED |

  Scenario Outline: What is approved is carried out, and what was carried out in part continues
    Given a plan in style <style> that is <status>
    When it is carried out to its end
    Then plan 1 is COMPLETED
    And plan 1 was carried out <times> time

    Examples:
      | style    | status              | times |
      | document | APPROVED            | 1     |
      | collect  | APPROVED            | 1     |
      | build    | APPROVED            | 1     |
      | document | EXECUTING           | 1     |
      | collect  | EXECUTING           | 1     |
      | build    | EXECUTING           | 1     |
      | document | PARTIALLY_COMPLETED | 2     |
      | collect  | PARTIALLY_COMPLETED | 2     |
      | build    | PARTIALLY_COMPLETED | 2     |

  Scenario Outline: What is cancelled while it is carried out is really stopped
    Given a plan in style <style> that is EXECUTING
    When an actor tries to cancel
    Then what was under way ends
    And plan 1 is CANCELLED
    When the journal is noted
    And what waits is released
    Then nothing was written
    And plan 1 is CANCELLED

    Examples:
      | style   |
      | collect |
      | build   |

  Scenario: A collected plan that is finalised empty is cancelled
    When the person types "/plan on collect"
    Given the model calls "plan_finalize" with '{}'
    When the person says "Nothing to do"
    Then plan 1 is CANCELLED
    And plan work is off

  Scenario: An incomplete draft that is submitted stays a draft
    When the person types "/plan on build"
    Given the model calls "plan_submit" with '{}'
    And the model answers "It is not complete."
    When the person says "Submit it"
    Then plan 1 is COLLECTING
    And the model was told "INVALID_ARGUMENT"

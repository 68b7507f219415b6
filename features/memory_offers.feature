Feature: Rules offer memories
  Decisions of finished plans, resolved errors of the workbook and entries of the diary are offered. Nothing of it is
  remembered until a person or the agent accepts it, and nothing of it becomes global without a person.

  Background:
    Given a session "cli:f1rst000"
    And a session "cli:sec0nd00"
    And the person is in "cli:f1rst000"

  Scenario: The decisions of a finished plan are offered, and remembered once they are accepted
    Given the document "# Parser\n\n## Decisions\n\n- We keep the old parser.\n\n## Steps\n\n1. Tidy up\n" is ready
    When the person types "/memory offers"
    Then the person reads "Nothing is offered to be remembered."
    Given the model calls "plan_progress" with '{"step": 1, "status": "done"}'
    And the model answers "It is done."
    When the person types "/plan approve"
    And it is carried out to its end
    Then plan 1 is COMPLETED
    When the person types "/memory offers"
    Then the person reads "decision from a finished plan, for session:cli:f1rst000: `We keep the old parser.`"
    And in "cli:f1rst000" a search for "parser" finds nothing
    When the person accepts the offer "We keep the old parser."
    Then the person reads "in `session:cli:f1rst000`"
    And in "cli:f1rst000" a search for "parser" finds "We keep the old parser."
    And in "cli:sec0nd00" a search for "parser" finds nothing
    When the person goes to "cli:f1rst000"
    And the person types "/memory offers"
    Then the person reads "Nothing is offered to be remembered."

  Scenario: A resolved error of the workbook is offered, an open one is not
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "The shop"}'
    And the model calls "update_plan" with '{"which": "task_plan", "section": "Errors", "content": "| What went wrong | What is done instead |\n|---|---|\n| The port is taken | use 8081 |\n| The disk is full | |"}'
    And the model answers "Noted."
    When the person says "Open the shop"
    And the person types "/memory offers"
    Then the person reads "The port is taken — resolved: use 8081"
    And the person does not read "The disk is full"
    When Planwright is restarted
    And the person accepts the offer "The port is taken — resolved: use 8081"
    Then in "cli:f1rst000" a search for "port" finds "The port is taken — resolved: use 8081"

  Scenario: What a run writes into the diary is offered for its task
    Given the model calls "diary_write" with '{"text":"The certificate is renewed every May."}'
    And the model calls "task_update" with '{"status":"done"}'
    And the model answers "Done."
    When the person types "/task add Renew the certificate"
    And the person types "/auto on"
    Then run 1 ends as "completed"
    When the person accepts the offer "The certificate is renewed every May."
    Then the person reads "in `task:"
    And the task of run 1 finds "The certificate is renewed every May." for "certificate"
    And in "cli:f1rst000" a search for "certificate" finds nothing

  Scenario: The agent is shown an offer that answers its search, and accepts it
    Given the person types "/diary add The till is called Hedwig."
    And the model calls "memory_search" with '{"query":"till"}'
    And the model answers "Nothing is remembered, but something is offered."
    When the person says "What is the till called?"
    Then the model was told "The till is called Hedwig."
    And in "cli:f1rst000" a search for "till" finds nothing
    When the agent accepts the offer "The till is called Hedwig."
    Then in "cli:f1rst000" a search for "till" finds "The till is called Hedwig."
    And in "cli:sec0nd00" a search for "till" finds nothing

  Scenario: What is declined is not offered again
    Given the person types "/diary add It rained."
    When the person declines the offer "It rained."
    Then the person reads "is not offered any more"
    When Planwright is restarted
    And the person types "/memory offers"
    Then the person reads "Nothing is offered to be remembered."
    And in "cli:f1rst000" a search for "rained" finds nothing

  Scenario: An offer is never made in another session
    Given the person types "/diary add The till is called Hedwig."
    When the person goes to "cli:sec0nd00"
    And the person types "/memory offers"
    Then the person reads "Nothing is offered to be remembered."
    When the person types "/memory accept offer-0123456789abcdef01234567"
    Then the person is refused with NOT_FOUND

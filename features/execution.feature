Feature: Approval and execution
  A person's yes begins the work, and nothing else does. What is carried out is what was approved; what was done is done
  once; and a plan is only done when its steps are.

  Background:
    Given a session "cli:execut10n"

  # Approval begins the work

  Scenario: Approving a document begins the work on it in the conversation
    Given the document "# Move\n\n- [ ] pack\n- [ ] load" is ready
    And the model reports "done"
    And the model reports "done"
    And the model answers "Everything is packed and loaded."
    When the person types "/plan approve"
    Then the person first reads "Plan 1 is approved"
    And the model was once sent "[Plan 1 was approved.]"
    And plan 1 is COMPLETED
    And the person reads "Everything is packed and loaded."

  Scenario: Approving recorded calls makes exactly these calls, in order, and nothing else
    Given a tool "mail" that changes things
    And a tool "look" that only reads
    And a plan with the calls 'mail {"to": ["ann", "bob"], "urgent": true}; look {"page": 2.5, "of": null}; mail {"to": []}' is ready
    Then no tool was called
    When the person types "/plan approve"
    Then the person first reads "Plan 1 is approved"
    And the calls were
      | mail | {"to": ["ann", "bob"], "urgent": true} |
      | look | {"page": 2.5, "of": null}              |
      | mail | {"to": []}                             |
    And the model was asked 0 times
    And plan 1 is COMPLETED
    And the person reads "3 done"
    And step 2 of plan 1 is COMPLETED with the note "look worked"

  Scenario: Approving a proposal gives each step to the specialist it names
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1)" is ready
    And the model reports "done: wrote main.rs"
    And the model reports "done: all green"
    When the person types "/plan approve"
    Then the model was asked 2 times
    And the model's instructions once said "# You are the coder"
    And the model's instructions say "# You are the tester"
    And plan 1 is COMPLETED
    And step 1 of plan 1 is COMPLETED with the note "wrote main.rs"

  Scenario: A specialist is told the goal, its step, the outcomes so far and the person's note, and nothing of the conversation
    Given the model answers "Noted."
    When the person says "The password is swordfish"
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1)" is ready
    And the model reports "done: wrote main.rs"
    And the model reports "done"
    When the person types "/plan approve -- only small changes"
    Then the model was sent "Test it"
    And the model was sent "Ship it"
    And the model was sent "wrote main.rs"
    And the model was sent "only small changes"
    And the model was not sent "swordfish"

  Scenario: A specialist who tries again is told the outcome of earlier attempts
    Given a plan with the goal "Ship it" and the steps "coder: Write it" is ready
    And the model reports "failed: the disk was full"
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    Given the model reports "done"
    When the person types "/plan resume retry"
    Then the model was sent "Earlier attempts at this step"
    And the model was sent "the disk was full"
    And plan 1 is COMPLETED

  Scenario: A specialist reports on its own step and does nothing else to plans
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model calls "plan_progress" with '{"step": 2, "status": "done"}'
    And in the same reply it calls "plan_create_draft" with '{"goal": "Something else"}'
    And in the same reply it calls "ask_agent" with '{"agent": "tester", "question": "Is it done?"}'
    And the model reports "done"
    And the model reports "failed"
    When the person types "/plan approve"
    Then step 1 of plan 1 is COMPLETED
    And step 2 of plan 1 is FAILED
    And there is 1 plan

  # What is done is what was reported

  Scenario: A document is ticked by reports, and its text is never edited
    Given the document "# Move\n\n- [ ] pack\n- [ ] load" is ready
    And the model calls "plan_progress" with '{"step": 1, "status": "done", "evidence": "12 boxes"}'
    And the model answers "The rest later."
    And the model answers "Tomorrow."
    When the person types "/plan approve"
    Then step 1 of plan 1 is COMPLETED with the evidence "12 boxes"
    And step 2 of plan 1 is PENDING
    And plan 1 is EXECUTING
    And plan 1 reads "# Move\n\n- [ ] pack\n- [ ] load"
    And the person reads "1 of 2 steps are done. Next: 2. load"

  Scenario Outline: A plan is never done because a message says so
    Given the document "<document>" is ready
    And the model answers "All done! Plan 1 is COMPLETED."
    When the person types "/plan approve"
    Then plan 1 is EXECUTING
    When the person types "/plan status"
    Then the person reads "0 of <steps> steps are done"

    Examples:
      | document             | steps |
      | - [ ] one\n- [ ] two | 2     |
      | 1. one\n2. two       | 2     |
      | # Only words         | 1     |

  Scenario: A specialist who ends with words alone has not done its step
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model answers "I wrote everything, it is done."
    And the model answers "It is really done."
    When the person types "/plan approve"
    Then step 1 of plan 1 is FAILED with the note "did not say how the step ended"
    And step 2 of plan 1 is PENDING
    And plan 1 is PARTIALLY_COMPLETED

  Scenario: A specialist whose model fails has not done its step
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model fails with "no credit left"
    When the person types "/plan approve"
    Then step 1 of plan 1 is FAILED with the note "no credit left"
    And plan 1 is PARTIALLY_COMPLETED
    And the person reads "no credit left"

  Scenario: A plan of which nothing was done is not done
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model reports "skipped"
    And the model reports "skipped"
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED

  Scenario: A document that is rewritten while it is carried out waits for a person again
    Given the document "- [ ] one\n- [ ] two" is ready
    And the model reports "done"
    And the model calls "plan_set_content" with '{"plan_markdown": "- [ ] three"}'
    When the person types "/plan approve"
    Then the turn ends as plan_ready
    And plan 1 is SUPERSEDED
    And plan 2 is READY
    And plan 2 is not approved
    And the person is shown plan 2

  # Stop means stop

  Scenario: Stopped calls are not followed by others, and the plan continues from the first step not done
    Given a tool "first" that changes things
    And a tool "slow" that may be repeated and hangs the first time
    And a tool "last" that changes things
    And a plan with the calls 'first {}; slow {}; last {}' is ready
    When the person types "/plan approve" and "slow" is being called
    And the person types "/stop"
    Then the person reads "Stopped."
    And what was under way ends
    And plan 1 is PARTIALLY_COMPLETED
    And "last" was called 0 times
    When the person types "/plan resume"
    Then plan 1 is COMPLETED
    And plan 1 was carried out 2 times
    And "first" was called 1 time
    And "slow" was called 2 times
    And "last" was called 1 time

  Scenario: A specialist that is stopped does its step when the plan continues
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model reports "done"
    And the model hangs
    When the person types "/plan approve" and the model is thinking about reply 2
    And the person types "/stop"
    Then what was under way ends
    And plan 1 is PARTIALLY_COMPLETED
    And step 2 of plan 1 is PENDING
    Given the model reports "done"
    When the person types "/plan resume"
    Then plan 1 is COMPLETED
    And the model was asked 1 time
    And the model's instructions say "# You are the tester"

  # A turn that ended is ended

  Scenario: An agent that reports nothing is reminded once of the open steps, and then a person decides
    Given the document "- [ ] pack\n- [ ] load" is ready
    And the model answers "Which boxes?"
    And the model answers "I still do not know."
    When the person types "/plan approve"
    Then the model was asked 2 times
    And the model was once sent "Open steps:"
    And plan 1 is EXECUTING
    When the person types "/plan status"
    Then the person reads "It is paused: no process works on it."
    And the person reads "`/plan resume 1`: Resume from step 1"
    And the model was asked 0 times

  Scenario: A paused plan continues when a person resumes it
    Given the document "- [ ] pack" is ready
    And the model answers "Which boxes?"
    And the model answers "I still do not know."
    When the person types "/plan approve"
    Given the model reports "done"
    And the model answers "Packed."
    When the person types "/plan resume 1"
    Then plan 1 is COMPLETED

  Scenario: A paused plan ends where it is when a person stops it
    Given the document "- [ ] pack\n- [ ] load" is ready
    And the model reports "done"
    And the model answers "One is done."
    And the model answers "What next?"
    When the person types "/plan approve"
    And the person types "/plan resume 1 stop"
    Then plan 1 is PARTIALLY_COMPLETED

  Scenario: The work on a document that is stopped continues with the open steps
    Given the document "- [ ] one\n- [ ] two" is ready
    And the model reports "done"
    And the model hangs
    When the person types "/plan approve" and the model is thinking about reply 2
    And the person types "/stop"
    Then what was under way ends
    And the turn ends as stopped
    And step 1 of plan 1 is COMPLETED
    And step 2 of plan 1 is PENDING
    Given the model reports "done"
    And the model answers "Now it is done."
    When the person types "/plan resume"
    Then the model was sent "[Go on with plan 1.]"
    And plan 1 is COMPLETED

  Scenario Outline: What a person ends while it is carried out in the conversation is ended at once
    Given the document "- [ ] one\n- [ ] two" is ready
    And the model hangs
    When the person types "/plan approve" and the model is thinking about reply 1
    And the person types "<command>"
    Then what was under way ends
    And the turn ends as stopped
    And plan 1 is <status>

    Examples:
      | command        | status              |
      | /plan cancel 1 | CANCELLED           |
      | /plan done     | PARTIALLY_COMPLETED |
      | /reset         | CANCELLED           |

  Scenario Outline: A number before a text is not taken for a plan
    Given a tool "send" that changes things
    And a plan with the calls 'send {}' is ready
    And the person types "/plan approve"
    And a plan with the calls 'send {}' is ready
    When the journal is noted
    And the person types "<typed>"
    Then it is refused
    And the person reads "`<for the plan>` for the plan"
    And the person reads "`<for the text>` for the text"
    And nothing was written
    And plan 1 is COMPLETED
    And plan 2 is READY

    Examples:
      | typed                            | for the plan                      | for the text                        |
      | /plan revise 1 more test please  | /plan revise #1 more test please  | /plan revise -- 1 more test please  |
      | /plan reject 1 call is too few   | /plan reject #1 call is too few   | /plan reject -- 1 call is too few   |

  Scenario Outline: A plan is named before a text so that nothing else can be meant
    Given a tool "send" that changes things
    And a plan with the calls 'send {}' is ready
    When the person types "<typed>"
    Then plan 1 is REJECTED

    Examples:
      | typed                          |
      | /plan reject #1 1 call is too few |
      | /plan reject 1 -- too few      |
      | /plan reject 1                 |
      | /plan reject -- 1 call is too few |

  Scenario: A plan that is revised while it is carried out is stopped, and no late result is written
    Given a tool "slow" that changes things and waits to be released
    And a tool "last" that changes things
    And a plan with the calls 'slow {}; last {}' is ready
    When the person types "/plan approve" and "slow" is being called
    Given the model answers "I will think of something else."
    When the person types "/plan revise #1 without mail"
    Then the person reads "something else"
    And what was under way ends
    And plan 1 is SUPERSEDED
    And plan 2 is COLLECTING
    When the journal is noted
    And what waits is released
    Then nothing was written
    And plan 1 is SUPERSEDED
    And "last" was called 0 times

  Scenario Outline: A plan that is revised while an agent works on it is stopped, and the agent plans anew
    Given <plan> is ready
    And the model hangs
    When the person types "/plan approve" and the model is thinking about reply 1
    Given the model answers "I will think of something else."
    When the person types "/plan revise #1 something smaller"
    Then the person reads "something else"
    And the model's instructions say "something smaller"
    And what was under way ends
    And plan 1 is SUPERSEDED
    And plan 2 is COLLECTING
    And plan 2 supersedes plan 1
    And plan 2 is not approved

    Examples:
      | plan                                                               |
      | the document "- [ ] one"                                           |
      | a plan with the goal "Ship it" and the steps "coder: Write it"     |

  Scenario: What a person stops in the middle of a step of a document waits for a person
    Given a tool "mail" that changes things and hangs the first time
    And the document "- [ ] write to ann\n- [ ] rest" is ready
    And the model reports "in_progress"
    And the model calls "mail" with '{"to": "ann"}'
    When the person types "/plan approve" and "mail" is being called
    And the person types "/stop"
    Then what was under way ends
    And step 1 of plan 1 is UNCERTAIN
    When the person types "/plan resume"
    Then it is refused
    And the person reads "The result of step 1 is unknown"
    And the model was asked 0 times
    Given the model reports "done"
    And the model answers "The rest is done."
    When the person types "/plan resume skip"
    Then plan 1 is COMPLETED
    And "mail" was called 1 time

  Scenario: A document that is parked while it is carried out stays as it is until a person takes it up again
    Given the document "- [ ] one\n- [ ] two" is ready
    And the model reports "done"
    And the model answers "The rest later."
    When the person types "/plan approve"
    And the person types "/plan off"
    And Planwright is restarted
    Then plan work is off
    And plan 1 is EXECUTING
    Given the model reports "done"
    And the model answers "Now everything."
    When the person types "/plan resume 1"
    Then plan 1 is COMPLETED
    And plan 1 was carried out 1 time

  Scenario Outline: Another process stops it as well
    Given a tool "slow" that may be repeated and waits to be released
    And a tool "last" that changes things
    And a plan with the calls 'slow {}; last {}' is ready
    When the person types "/plan approve" and "slow" is being called
    And in another process the person types "<command>"
    Then what was under way ends
    And plan 1 is <status>
    When what waits is released
    Then plan 1 is <status>
    And "last" was called 0 times

    Examples:
      | command        | status              |
      | /plan cancel 1 | CANCELLED           |
      | /stop          | PARTIALLY_COMPLETED |

  # Steps that fail, and steps with an unknown result

  Scenario: A step that fails stops the rest
    Given a tool "mail" that changes things and fails
    And a tool "note" that changes things
    And a plan with the calls 'mail {}; note {}' is ready
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    And step 1 of plan 1 is FAILED with the note "mail did not work"
    And "note" was called 0 times
    And the person reads "1 failed, 1 not begun"

  Scenario: A step that fails does not stop the rest if the configuration says so
    Given a plan continues after a step that failed
    And a tool "mail" that changes things and fails
    And a tool "note" that changes things
    And a plan with the calls 'mail {}; note {}' is ready
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    And "note" was called 1 time
    And the person reads "1 done, 1 failed"

  Scenario: Whatever happens, a step that needs one that failed is not done
    Given a plan continues after a step that failed
    And a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1); writer: Describe it" is ready
    And the model reports "failed"
    And the model reports "done"
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    And step 2 of plan 1 is PENDING
    And step 3 of plan 1 is COMPLETED

  Scenario Outline: A person says what becomes of a step that failed
    Given a tool "mail" that changes things and fails the first time
    And a tool "note" that changes things
    And a plan with the calls 'mail {}; note {}' is ready
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    When the person types "/plan resume 1 <choice>"
    Then plan 1 is <status>
    And "mail" was called <mails> times
    And "note" was called <notes> times

    Examples:
      | choice | status              | mails | notes |
      | retry  | COMPLETED           | 2     | 1     |
      | skip   | COMPLETED           | 1     | 1     |
      | stop   | PARTIALLY_COMPLETED | 1     | 0     |

  Scenario Outline: A call that may have had its effect is never simply made again; a person says what to do
    Given a tool may take 50 milliseconds
    And a tool "mail" that changes things and hangs the first time
    And a tool "note" that changes things
    And a plan with the calls 'mail {}; note {}' is ready
    When the person types "/plan approve"
    Then plan 1 is EXECUTING
    And step 1 of plan 1 is UNCERTAIN with the note "did not end"
    And the person reads "The result of step 1 is unknown"
    When the person types "/plan resume"
    Then it is refused
    And the person reads "/plan resume 1 retry"
    And "mail" was called 1 time
    When the person types "/plan resume 1 <choice>"
    Then plan 1 is <status>
    And "mail" was called <mails> times
    And "note" was called <notes> times

    Examples:
      | choice | status              | mails | notes |
      | retry  | COMPLETED           | 2     | 1     |
      | skip   | COMPLETED           | 1     | 1     |
      | stop   | PARTIALLY_COMPLETED | 1     | 0     |

  Scenario: A call that only reads and takes too long has failed, and is not done
    Given a tool may take 50 milliseconds
    And a tool "look" that only reads and hangs the first time
    And a plan with the calls 'look {}' is ready
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    And step 1 of plan 1 is FAILED with the note "did not end"

  Scenario: A step that is skipped takes with it those that need it
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1); writer: Describe it" is ready
    And the model reports "failed"
    When the person types "/plan approve"
    Then plan 1 is PARTIALLY_COMPLETED
    Given the model reports "done"
    When the person types "/plan resume skip"
    Then step 1 of plan 1 is SKIPPED
    And step 2 of plan 1 is SKIPPED with the note "needs step 1, which is skipped"
    And step 3 of plan 1 is COMPLETED
    And plan 1 is COMPLETED

  Scenario: There is nothing to retry where nothing went wrong
    Given the document "- [ ] one" is ready
    When the person types "/plan resume 1 retry"
    Then it is refused
    And plan 1 is READY

  # What exactly is approved

  Scenario: Approving some steps says which others are left out with them, before and after
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it (needs 1); writer: Describe it" is ready
    And the model reports "done"
    When the person types "/plan show 1"
    Then the plan that is shown says "needs"
    When the person types "/plan approve skip 1"
    Then the person first reads "step 1 will not be done (left out by the approval)"
    And the person first reads "step 2 will not be done (needs step 1, which is skipped)"
    And the person reads "1 done, 2 skipped"
    And the model was asked 1 time
    And the model's instructions say "# You are the writer"
    And plan 1 is COMPLETED

  Scenario: What is shown for approval is what will be done
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {"to": "ann"}' is ready
    Then the person is shown plan 1
    And the plan that is shown says "mail"
    And the plan that is shown says "ann"

  Scenario: A plan is approved by its id as well as by its number
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    When the person types "/plan approve" and the id of plan 1 and ""
    Then plan 1 is COMPLETED

  Scenario Outline: A parked plan is approved and carried out like any other
    Given a tool "mail" that changes things
    And <plan> is ready
    When the person types "/plan off"
    Given the model reports "done"
    And the model answers "Done."
    When the person types "/plan approve 1"
    Then plan 1 is COMPLETED

    Examples:
      | plan                                                           |
      | the document "- [ ] one"                                       |
      | a plan with the calls 'mail {}'                                |
      | a plan with the goal "Ship it" and the steps "coder: Write it" |

  Scenario: What answers a wish for changes is shown before it can be approved
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {"to": "ann"}' is ready
    And the model calls "mail" with '{"to": "bob"}'
    And the model calls "plan_finalize" with '{}'
    When the person types "/plan revise #1 to bob instead"
    Then the person is shown plan 2
    And the plan that is shown says "bob"
    And no tool was called
    When the person types "/plan approve"
    Then the calls were
      | mail | {"to": "bob"} |

  Scenario: Approving twice does nothing twice
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    When the person types "/plan approve 1"
    And the person types "/plan approve 1"
    Then it is refused
    And the person reads "Plan 1 is COMPLETED"
    And "mail" was called 1 time

  Scenario: An approval that comes while the plan is carried out waits for its end, and does nothing twice
    Given a tool "mail" that changes things and waits to be released
    And a plan with the calls 'mail {}' is ready
    When the person types "/plan approve 1" and "mail" is being called
    And what waits is released
    And the person types "/plan approve 1"
    Then it is refused
    When what was under way ends
    Then plan 1 is COMPLETED
    And "mail" was called 1 time
    And plan 1 was carried out 1 time

  Scenario: An approval of a text that has changed shows the new text and begins nothing
    Given the document "# One" is ready
    And the model answers "Never asked."
    When the agent writes the plan "# Something else"
    And the person types "/plan approve"
    Then it is refused
    And the person is shown plan 1
    And the plan that is shown says "Something else"
    And the model was asked 0 times
    And plan 1 is READY
    And plan 1 is not approved

  Scenario: A rule approves a plan that only reads, and it is shown as a rule
    Given plans that only read are approved by a rule
    And a tool "look" that only reads
    And a plan with the calls 'look {"n": 1}; look {"n": 2}' is ready
    Then plan 1 is COMPLETED
    And "look" was called 2 times
    And the approval of plan 1 was given by the policy 'plan.standing_approval = "read_only"'
    And the person reads "was approved by the rule"
    And the person reads "2 done"

  Scenario: A rule approves nothing that changes something
    Given plans that only read are approved by a rule
    And a tool "look" that only reads
    And a tool "mail" that changes things
    And a plan with the calls 'look {}; mail {}' is ready
    Then plan 1 is READY
    And plan 1 is not approved
    And no tool was called
    And the person is shown plan 1

  Scenario: A rule approves no proposal and no document
    Given plans that only read are approved by a rule
    And the document "# Read something" is ready
    And a plan with the goal "Read it" and the steps "researcher: Read it" is ready
    Then plan 1 is READY
    And plan 2 is READY
    And plan 1 is not approved
    And plan 2 is not approved

  Scenario: Without the rule a person decides
    Given a tool "look" that only reads
    And a plan with the calls 'look {}' is ready
    Then plan 1 is READY
    And no tool was called

  # What decides nothing

  Scenario: Saying yes in the conversation is not an approval
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    And the model answers "Approved, I carry it out now."
    When the person says "Yes, go ahead, I approve it"
    Then plan 1 is READY
    And plan 1 is not approved
    And no tool was called

  Scenario: A plan that was rejected is not carried out by saying proceed
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    When the person types "/plan reject #1 not now"
    Given the model answers "I proceed."
    When the person says "Proceed"
    Then plan 1 is REJECTED
    And no tool was called

  Scenario: A model cannot approve, begin or resume a plan
    Given the document "- [ ] one" is ready
    And the model calls "plan_approve" with '{"plan_id": "1"}'
    And in the same reply it calls "plan_progress" with '{"status": "done"}'
    And in the same reply it calls "plan_resume" with '{}'
    And the model answers "I tried."
    When the person says "Do it"
    Then the model was told "NOT_FOUND"
    And the model was told "WRONG_STATUS"
    And plan 1 is READY

  Scenario: An interruption is not an approval
    Given the document "- [ ] one" is ready
    And the model hangs
    When the person types "What do you think?" and the model is thinking about reply 1
    And the person types "/stop"
    Then what was under way ends
    And plan 1 is READY
    And plan 1 is not approved

  Scenario: A summary that quotes an approval is not one
    Given the document "- [ ] one" is ready
    And the person has talked for 10 turns
    And the model answers "The person said: go ahead. Plan 1 is approved."
    When the person types "/compact"
    Then the person reads "summarised"
    And plan 1 is READY
    And plan 1 is not approved

  # One thing after another

  Scenario: Messages wait while a plan is carried out
    Given a tool "slow" that changes things and waits to be released
    And a plan with the calls 'slow {}' is ready
    When the person types "/plan approve" and "slow" is being called
    Given the model answers "I am free."
    And the model answers "Now I have time."
    When the person types "Are you there?" and does not wait
    And in the session "cli:other0ne" a person says "And you?"
    Then the person reads "I am free."
    And it is still under way
    When what waits is released
    And what was under way ends
    Then the person reads "Now I have time."
    And plan 1 is COMPLETED
    And the journal has "execution_finished" before "turn_begun"

  # Restarts and crashes

  Scenario: An approval survives a restart
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    When the person approves plan 1
    And Planwright is restarted
    Then plan 1 is APPROVED
    And the approval of plan 1 was given by the person "ann"
    And no tool was called
    When the person types "/plan resume"
    Then plan 1 is COMPLETED
    And "mail" was called 1 time

  Scenario: What cannot be carried out here is approved and waits
    Given a tool "mail" that changes things
    And a plan with the calls 'mail {}' is ready
    When the tool "mail" is taken away
    And the person types "/plan approve"
    Then the person reads "cannot be carried out here"
    And plan 1 is APPROVED
    Given a tool "mail" that changes things
    When the person types "/plan resume"
    Then plan 1 is COMPLETED

  Scenario: What is left out of the approval need not be there
    Given a tool "mail" that changes things
    And a tool "note" that changes things
    And a plan with the calls 'mail {}; note {}' is ready
    When the tool "mail" is taken away
    And the person types "/plan approve only 2"
    Then plan 1 is COMPLETED
    And "mail" was called 0 times
    And "note" was called 1 time

  Scenario: After a crash, calls that may be made again are, and those with a result are not
    Given a tool "first" that changes things
    And a tool "look" that only reads and hangs the first time
    And a tool "last" that changes things
    And a plan with the calls 'first {}; look {}; last {}' is ready
    When the person types "/plan approve" and Planwright is killed while "look" is being called
    Then plan 1 is EXECUTING
    When Planwright continues what was interrupted
    Then plan 1 is COMPLETED
    And plan 1 was carried out 1 time
    And "first" was called 1 time
    And "look" was called 2 times
    And "last" was called 1 time

  Scenario: After a crash, a call that may have had its effect waits for a person
    Given a tool "mail" that changes things and hangs the first time
    And a tool "last" that changes things
    And a plan with the calls 'mail {}; last {}' is ready
    When the person types "/plan approve" and Planwright is killed while "mail" is being called
    And Planwright continues what was interrupted
    Then the person reads "The result of step 1 is unknown"
    And plan 1 is EXECUTING
    When Planwright continues what was interrupted
    Then there was nothing to go on with
    And "mail" was called 1 time
    And "last" was called 0 times
    When the person types "/plan resume skip"
    Then plan 1 is COMPLETED
    And "mail" was called 1 time
    And "last" was called 1 time

  Scenario: After a crash, a specialist continues in the middle of its step
    Given a tool "mail" that changes things
    And a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model calls "mail" with '{}'
    And the model hangs
    When the person types "/plan approve" and Planwright is killed while the model is thinking about reply 2
    Then step 1 of plan 1 is IN_PROGRESS
    Given the model reports "done"
    And the model reports "done"
    When Planwright continues what was interrupted
    Then plan 1 is COMPLETED
    And "mail" was called 1 time
    And the model was asked 2 times

  Scenario: After a crash, a person has a specialist go on in the middle of its step
    Given a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model hangs
    When the person types "/plan approve" and Planwright is killed while the model is thinking about reply 1
    Given the model reports "done"
    And the model reports "done"
    When the person types "/plan resume"
    Then the person reads "2 done"
    And plan 1 was carried out 1 time

  Scenario: After a crash in the middle of a specialist's call, its step waits for a person
    Given a tool "mail" that changes things and hangs the first time
    And a plan with the goal "Ship it" and the steps "coder: Write it; tester: Test it" is ready
    And the model calls "mail" with '{"to": "ann"}'
    When the person types "/plan approve" and Planwright is killed while "mail" is being called
    And Planwright continues what was interrupted
    Then step 1 of plan 1 is UNCERTAIN
    And step 2 of plan 1 is PENDING
    And "mail" was called 1 time
    Given the model reports "done"
    And the model reports "done"
    When the person types "/plan resume retry"
    Then plan 1 is COMPLETED
    And the model was once sent "its result is unknown"

  Scenario: After a crash, the work on a document continues
    Given the document "- [ ] one\n- [ ] two" is ready
    And the model reports "done"
    And the model hangs
    When the person types "/plan approve" and Planwright is killed while the model is thinking about reply 2
    Then step 1 of plan 1 is COMPLETED
    Given the model reports "done"
    And the model answers "Both are done."
    When Planwright continues what was interrupted
    Then the person reads "Both are done."
    And plan 1 is COMPLETED

  Scenario: A message after a crash waits until the plan has continued
    Given a tool "look" that only reads and hangs the first time
    And a plan with the goal "Ship it" and the steps "coder: Write it" is ready
    And the model calls "look" with '{}'
    When the person types "/plan approve" and Planwright is killed while "look" is being called
    Given the model reports "done"
    And the model answers "It is done by now."
    When the person types "How far is it?"
    Then the person reads "It is done by now."
    And plan 1 is COMPLETED

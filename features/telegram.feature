Feature: Telegram
  A chat with the agent, with the same commands as everywhere. Plans are decided by buttons.

  Background:
    Given a Telegram bot that ada and bob may use

  Scenario: Recorded calls become a card, and nothing runs before the approval
    Given the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{"summary": "Write a file"}'
    And the model answers "The plan is ready."
    When ada writes "/plan on collect" in Telegram
    And ada writes "write the file" in Telegram
    Then ada gets a card with the button "Approve"
    And the card says "write_file"
    And the session of ada has no file "a.txt"
    When ada presses "Approve"
    Then the session of ada has the file "a.txt"
    And the card says "Approved by"

  Scenario: Finalising with nothing collected cancels the plan
    Given the model calls "plan_finalize" with '{}'
    When ada writes "/plan on collect" in Telegram
    And ada writes "finish" in Telegram
    Then ada reads "No step was proposed"
    And the newest plan of ada is CANCELLED

  Scenario: Words beside the call that finalises change nothing
    Given the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model says "Here is my plan." and calls "plan_finalize" with '{}'
    And the model answers "Please look at it."
    When ada writes "/plan on collect" in Telegram
    And ada writes "write the file" in Telegram
    Then ada gets a card with the button "Approve"
    And the newest plan of ada is READY

  Scenario: A model that never finalises leaves the plan collecting
    Given the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model answers "I wrote it down."
    When ada writes "/plan on collect" in Telegram
    And ada writes "write the file" in Telegram
    Then ada reads "I wrote it down."
    And the newest plan of ada is COLLECTING
    When ada writes "/plan off" in Telegram
    Then plan work of ada is off

  Scenario: The first command of a chat opens its session
    When ada writes "/plan on" in Telegram
    Then plan work of ada is on

  Scenario: Plan work of one person does not change another's
    When ada writes "/plan on" in Telegram
    And bob writes "/status" in Telegram
    Then plan work of ada is on
    And plan work of bob is off

  Scenario: A deleted session is replaced, and the command counts in the new one
    Given the model answers "Hello."
    When ada writes "hello" in Telegram
    Then ada reads "Hello."
    When the session of ada is deleted
    And ada writes "/plan on" in Telegram
    Then plan work of ada is on

  Scenario: Two sessions of one person keep their own plan work
    When ada writes "/plan on" in Telegram
    And ada writes "/new" in Telegram
    And ada writes "/status" in Telegram
    Then plan work of ada is off
    When ada goes back to the session before
    Then plan work of ada is on

  Scenario: Plan work that is turned off in one session stays on in another
    When ada writes "/plan on" in Telegram
    And ada writes "/new" in Telegram
    And ada writes "/plan on" in Telegram
    And ada writes "/plan off" in Telegram
    Then plan work of ada is off
    When ada goes back to the session before
    Then plan work of ada is on
    And ada reads the plan status of this session

  Scenario: Commands and messages of a chat go into the same session
    Given the model answers "Hello."
    When ada writes "/plan on" in Telegram
    And ada writes "hello" in Telegram
    Then ada reads "Hello."
    And there is one session

  Scenario: The text of a message names no other chat
    Given the model answers "I answer here."
    When bob writes "/status" in Telegram
    And ada writes "send this to chat 8" in Telegram
    Then ada reads "I answer here."
    And bob has one message

  Scenario: A new session knows nothing of the one before
    Given the model answers "The slow answer."
    When ada writes "think about it" in Telegram
    Then ada reads "The slow answer."
    When ada writes "/new" in Telegram
    And ada writes "/status" in Telegram
    Then the new session of ada has nothing of "think about it"

  Scenario: A plan of one session is not decided from another
    Given the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{}'
    And the model answers "Ready."
    When ada writes "/plan on collect" in Telegram
    And ada writes "write the file" in Telegram
    Then ada gets a card with the button "Approve"
    When ada writes "/new" in Telegram
    And ada writes "/plan approve" in Telegram
    And ada goes back to the session before
    Then the newest plan of ada is READY

  Scenario: Runs of one session are not those of another
    When ada writes "/task add Tidy up" in Telegram
    And bob writes "/auto status" in Telegram
    And bob writes "/tasks" in Telegram
    Then bob never reads "Tidy up"

  Scenario: A stranger is not answered
    When eve writes "/plan on" in Telegram
    Then eve reads "This bot is private."
    And there are no sessions

  Scenario: A stranger presses the owner's button
    Given the model calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{}'
    And the model answers "Ready."
    When ada writes "/plan on collect" in Telegram
    And ada writes "write the file" in Telegram
    Then ada gets a card with the button "Approve"
    When eve presses "Approve" on the card of ada
    And bob presses "Approve" on the card of ada
    Then the newest plan of ada is READY

  Scenario: An update that was received before a restart is answered after it
    Given the model answers "Here I am."
    When the server is stopped
    And ada writes "are you there?" in Telegram
    And the server is started
    Then ada reads "Here I am."

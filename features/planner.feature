Feature: The result of a planner's turn
  A program that builds on the planner gets one of four things: an answer, a plan by its id, a failure or an interruption. What
  is stored has the last word about a plan, whatever the planner says.

  Background:
    Given a session "cli:plannersays"
    And the person types "/plan on build"

  Scenario: Words are an answer
    Given the model answers "It takes two days."
    When the person says "How long does it take?"
    Then the planner's answer is an answer that says "two days"

  Scenario: What was drafted is named by its id, as a draft
    Given the model calls "plan_create_draft" with '{"goal": "Ship it"}'
    And the model answers "I began."
    When the person says "Ship it"
    Then the planner's answer is plan 1 as a draft

  Scenario: What was submitted is named by its id, as a proposal
    Given a plan with the goal "Ship it" and the steps "coder: Write it" is ready
    Then the planner's answer is plan 1 as a proposal
    And plan 1 is READY

  Scenario: A draft that is called a proposal is a draft
    Given the model calls "plan_create_draft" with '{"goal": "Ship it"}'
    And the model answers '{"type": "plan", "plan_id": "1", "status": "proposal"}'
    When the person says "Ship it"
    Then the planner's answer is plan 1 as a draft
    And plan 1 is COLLECTING
    And the person does not read "proposal"

  Scenario: An earlier plan is named as it is stored
    Given a plan with the goal "Ship it" and the steps "coder: Write it" is ready
    And the model answers '{"type": "plan", "plan_id": "1", "status": "draft"}'
    When the person says "Which plan was it?"
    Then the planner's answer is plan 1 as a proposal

  Scenario: A plan that is not there is a failure
    Given the model answers '{"type": "plan", "plan_id": "7", "status": "proposal"}'
    When the person says "Which plan was it?"
    Then the planner's answer is a failure that says "not in this session"

  Scenario: A model that fails is a failure
    Given the model fails with "no credit left"
    When the person says "Ship it"
    Then the planner's answer is a failure that says "no credit left"

  Scenario: A planner that is stopped is an interruption, and its draft stays
    Given the model calls "plan_create_draft" with '{"goal": "Ship it"}'
    And the model hangs
    When the person types "Ship it" and the model is thinking about reply 2
    And the person types "/stop"
    And what was under way ends
    Then the planner's answer is an interruption that says "Stopped"
    And plan 1 is COLLECTING

  Scenario: Where nothing is built there is no planner
    Given the person types "/plan on document"
    And the model answers "Hello."
    When the person says "Hello"
    Then there is no planner's answer

Feature: The workbook
  For long work the agent keeps three documents beside the conversation: a task plan, findings and progress. The ledger
  has them and their history, files on disk show them to the person, and no edit is lost.

  Background:
    Given a session "cli:workb00k"

  Scenario: The tools are offered while the planning files are on
    Given the model answers "Hello."
    And the model answers "Now I can keep notes."
    And the model answers "Now I cannot."
    When the person says "Hello"
    Then the model was not offered "init_plan"
    When the person types "/plan files on"
    And the person says "Hello"
    Then the model was offered "init_plan"
    And the model was offered "update_plan"
    When the person types "/plan files off"
    And the person says "Hello"
    Then the model was not offered "update_plan"

  Scenario: A tool that is called while they are off changes nothing
    Given the model calls "init_plan" with '{"task_title": "Mine"}'
    And the model answers "I cannot."
    When the person says "Take notes"
    Then the model was told "POLICY_DENIED"
    And there is no workbook
    And the session has no workbook files

  Scenario: /plan with a text begins a workbook, turns plan work on and gives the text to the agent
    Given the model answers "I begin."
    When the person types "/plan move the blog to a new server"
    Then plan work is on
    And the model was sent "move the blog to a new server"
    And the workbook is called "move the blog to a new server"
    And the file "task_plan" of the workbook says "move the blog to a new server"
    And the files of the workbook are what is stored

  Scenario: A section is replaced, and nothing else changes
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model calls "write_plan" with '{"which": "findings", "content": "# Findings\n\n## Found\n\nnothing\n\n```\n## Found\n```\n\n## Links\n\n- one\t\n"}'
    And the model calls "update_plan" with '{"which": "findings", "section": "Found", "content": "A server."}'
    And the model answers "Noted."
    When the person says "Write it down"
    Then the file "findings" of the workbook says "## Found\n\nA server.\n"
    And the file "findings" of the workbook says "## Links\n\n- one\t\n"
    And the file "findings" of the workbook does not say "nothing"
    And the files of the workbook are what is stored

  Scenario: A section that does not exist is refused, and nothing changes
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model calls "write_plan" with '{"which": "findings", "content": "# Findings\n\n## Found\n\nnothing\n"}'
    And the model calls "update_plan" with '{"which": "findings", "section": "Lost", "content": "A server."}'
    And the model answers "There is no such section."
    When the person says "Write it down"
    Then the model was told "Found"
    And the file "findings" of the workbook reads "# Findings\n\n## Found\n\nnothing\n"

  Scenario: What the person saves on disk is taken in before anything else
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model answers "Begun."
    When the person says "Take notes"
    And the person saves the file "task_plan" of the workbook as "# Move\n\n## Goal\n\nby Friday\n"
    Given the model calls "update_plan" with '{"which": "task_plan", "section": "Goal", "content": "by Thursday"}'
    And the model answers "Changed."
    When the person says "A day earlier"
    Then the model's instructions once said "The person edited the task plan"
    And the file "task_plan" of the workbook reads "# Move\n\n## Goal\n\nby Thursday\n"
    And the workbook's "task_plan" once was "# Move\n\n## Goal\n\nby Friday\n"

  Scenario: When the person and the agent write at the same time, both texts are kept
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model answers "Begun."
    When the person says "Take notes"
    And where the files are not seen, an agent writes the "task_plan" as "# By the agent\n"
    And the person saves the file "task_plan" of the workbook as "# By the person\n"
    Given the model calls "read_plan" with '{"which": "task_plan"}'
    And the model answers "There are two."
    When the person says "What does it say?"
    Then the file "task_plan" of the workbook reads "# By the person\n"
    And a copy beside the "task_plan" reads "# By the agent\n"
    And the workbook's "task_plan" once was "# By the agent\n"

  Scenario: The workbook survives compaction and a restart
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model calls "write_plan" with '{"which": "findings", "content": "# Findings\n\nThe server is called swordfish.\n"}'
    And the model answers "Noted."
    When the person says "Take notes"
    Given the person has talked for 10 turns
    And the model answers "They talked."
    When the person types "/compact"
    And Planwright is restarted
    Given the model calls "read_plan" with '{"which": "findings"}'
    And the model answers "Swordfish."
    When the person says "What is it called?"
    Then the model was told "The server is called swordfish."
    And the model's instructions say "Workbook"

  Scenario: A file that is gone is written again from what is stored
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model answers "Begun."
    When the person says "Take notes"
    And the files of the workbook are deleted
    And Planwright is restarted
    Given the model calls "read_plan" with '{"which": "task_plan"}'
    And the model answers "It is there."
    When the person says "Is it there?"
    Then the files of the workbook are what is stored

  Scenario: A complete workbook is archived before the next one begins
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "First"}'
    And the model calls "write_plan" with '{"which": "task_plan", "content": "# First\n\nStatus: complete\n\n## Goal\n\nthe first goal\n"}'
    And the model calls "init_plan" with '{"task_title": "Second"}'
    And the model answers "Begun."
    When the person says "The next one"
    Then the workbook is called "Second"
    And 1 archive says "the first goal"

  Scenario: A workbook that is in work is not replaced
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "First"}'
    And the model calls "init_plan" with '{"task_title": "Second"}'
    And the model answers "One is there."
    When the person says "Begin another"
    Then the workbook is called "First"
    And 0 archives say "First"

  Scenario Outline: The file tools neither see nor reach the workbook
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Swordfish"}'
    And the model calls "<tool>" with '<arguments>'
    And the model answers "I see nothing."
    When the person says "Look around"
    Then the model was never told in a result of "<tool>" "Swordfish"
    And the file "task_plan" of the workbook says "Swordfish"

    Examples:
      | tool       | arguments                                                  |
      | list_files | {}                                                         |
      | glob_files | {"pattern": "**/*.md"}                                     |
      | grep_files | {"pattern": "Sword"}                                       |
      | read_file  | {"path": "../plan/task_plan.md"}                           |
      | write_file | {"path": "../plan/task_plan.md", "content": "overwritten"} |

  Scenario: Workbook tools run while calls are collected, and are no steps
    Given the person types "/plan files on"
    And the person types "/plan on collect"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And in the same reply it calls "write_file" with '{"path": "a.txt", "content": "one"}'
    And the model calls "plan_finalize" with '{}'
    When the person says "Plan it"
    Then plan 1 has the steps
      | write_file | {"path": "a.txt", "content": "one"} |
    And the workbook is called "Move"
    And the session has no files

  Scenario: Research and errors are noted along the way
    Given a tool "look" that only reads
    And a tool "mail" that changes things and fails
    And the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Move"}'
    And the model calls "look" with '{"page": 1}'
    And the model calls "look" with '{"page": 2}'
    And the model calls "mail" with '{"to": "ann"}'
    And the model answers "Done."
    When the person says "Find out"
    Then the file "findings" of the workbook says "look"
    And the file "progress" of the workbook says "mail did not work"
    And the files of the workbook are what is stored

  Scenario: Every session has a workbook of its own
    Given the person types "/plan files on"
    And the model calls "init_plan" with '{"task_title": "Swordfish"}'
    And the model answers "Begun."
    When the person says "Take notes"
    And the person types "/new"
    Then there is no workbook
    And the session has no workbook files
    Given the model answers "I know of none."
    When the person says "Which notes are there?"
    Then the model was not sent "Swordfish"

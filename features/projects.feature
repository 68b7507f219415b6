Feature: Work in a project folder
  A session works in a project folder that a person named. What an approved plan changes there is kept as it was: it is shown
  as a diff, as git shows it, and a person has it put back byte for byte.

  Background:
    Given a session "cli:pr0ject1"
    And a small Rust project under git
    And the person works in the project

  Scenario: A document is carried out, its changes are shown and undone
    Given the document "- [ ] rename the function\n- [ ] write the notes\n- [ ] drop the old file" is ready
    And the model reports "in_progress"
    And the model calls "edit_file" with '{"path": "src/lib.rs", "edits": [{"old": "fn greet()", "new": "fn hello()"}]}'
    And the model reports "done"
    And the model reports "in_progress"
    And the model calls "write_file" with '{"path": "docs/NOTES.md", "content": "# Notes\n\nIt says hello.\n"}'
    And the model reports "done"
    And the model reports "in_progress"
    And the model calls "delete_file" with '{"path": "old.bin"}'
    And in the same reply it calls "move_file" with '{"path": "run.sh", "to": "bin/run.sh"}'
    And the model reports "done"
    And the model answers "All is done."
    When the person types "/plan approve"
    Then plan 1 is COMPLETED
    And "/changes" shows what git shows
    And the person reads "step 1, rename the function: `src/lib.rs`"
    When the person types "/changes 1 step 2"
    Then the person reads "+It says hello."
    And the person does not read "fn hello()"
    When Planwright is restarted
    And the person types "/undo"
    Then the person reads "5 files that plan 1 changed are as they were before"
    And the project is as it was committed
    And the journal has "files_changed" before "changes_undone"
    When the person types "/changes"
    Then the person reads "Plan 1 left no file changed."
    When the person types "/undo"
    Then it is refused

  Scenario: Recorded calls are carried out, their changes are shown and undone
    Given a plan with the calls 'edit_file {"path": "src/lib.rs", "edits": [{"old": "\"hi\"", "new": "\"hello\""}]}; write_file {"path": "README.md", "content": "# Greeter\n"}' is ready
    Then the project is as it was committed
    When the person types "/plan approve"
    Then plan 1 is COMPLETED
    And "/changes" shows what git shows
    When the person types "/changes .1"
    Then the person does not read "Greeter"
    When the person types "/undo step 2"
    Then the person reads "1 file that plan 1 changed is as it was before"
    And "/changes" shows what git shows
    When the person types "/undo 1"
    Then the project is as it was committed

  Scenario: Specialists do their steps, their changes are shown and undone
    Given a plan with the goal "Greet politely" and the steps "coder: Change the words; tester: Write a test (needs 1)" is ready
    And the model calls "edit_file" with '{"path": "src/lib.rs", "edits": [{"old": "\"hi\"", "new": "\"good day\""}]}'
    And the model reports "done: changed"
    And the model calls "edit_file" with '{"path": "src/lib.rs", "edits": [{"old": "good day", "new": "a good day"}]}'
    And in the same reply it calls "write_file" with '{"path": "tests/greeting.rs", "content": "#[test]\nfn it_greets() {}\n"}'
    And the model reports "done: tested"
    When the person types "/plan approve"
    Then plan 1 is COMPLETED
    And "/changes" shows what git shows
    When the person types "/undo step 1"
    Then it is refused
    And the person reads "`src/lib.rs`: It was changed since, so it was left as it is."
    When the person types "/undo"
    Then the project is as it was committed

  Scenario: What a person changed since is left as it is, and named
    Given a plan with the calls 'write_file {"path": "README.md", "content": "# Greeter\n"}; write_file {"path": "NOTES.md", "content": "notes\n"}' is ready
    When the person types "/plan approve"
    Then plan 1 is COMPLETED
    When a person writes "# Mine\n" into "README.md" of the project
    And the person types "/undo"
    Then the person reads "1 file that plan 1 changed is as it was before"
    And the person reads "`README.md`: It was changed since, so it was left as it is."
    And "README.md" of the project is "# Mine\n"

  Scenario: The project says how work is done in it
    Given "AGENTS.md" of the project is "Run the tests before you report.\n"
    And "CLAUDE.md" of the project is "Never read.\n"
    And the model answers "I will."
    When the person says "Tidy up"
    Then the model's instructions say "The project's own words, from its file `AGENTS.md`, follow."
    And the model's instructions say "> Run the tests before you report."
    And the model was never told "Never read."

  Scenario: The folder is shown, and left
    When the person types "/status"
    Then the person reads "- files: the project folder"
    When the person types "/project"
    Then the person reads "The file tools work in the project folder"
    When the person types "/project off"
    Then the person reads "The file tools work in the session's own folder"
    And the journal has "session_opened" before "workspace_chosen"
    When the person types "/project /no/such/folder"
    Then it is refused
    And the person reads "There is no folder `/no/such/folder`."

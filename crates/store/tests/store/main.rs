//! What every store promises, checked on both, and what each of them does when its own kind of trouble comes.
//!
//! - `contract`: the promises of the ports, one file or folder for each port
//! - `object_blobs`: pieces of files in a folder and in an S3-compatible storage
//! - `pgbouncer`: a pooler in front of the server
//! - `sqlite_faults`, `postgres_faults`, `shared_store_faults`: files and servers that fail, through a `proxy` that cuts the line
//! - `postgres_limits`: time limits of the server, and a standby that does not answer
//! - `sqlite_writes`: how much a commit writes to the file
//! - `postgres_tls`: encrypted connections, and several servers
//! - `postgres_outbox`: rows of the outbox that another transaction holds
//! - `commands`, `turns`, `verification`: what the tests submit, and the check that a store is whole

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod commands;
mod contract;
mod object_blobs;
mod pgbouncer;
mod postgres_faults;
mod postgres_limits;
mod postgres_outbox;
mod postgres_tls;
mod proxy;
mod shared_store_faults;
mod sqlite_faults;
mod sqlite_writes;
mod turns;
mod verification;

use planwright_test_support::stores;

/// Makes a test of each promise for one store.
macro_rules! promises {
    ($kind:ident, $store:expr, $($group:ident { $($promise:ident),+ $(,)? })+) => {
        mod $kind {
            $(mod $group {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    crate::contract::$group::$promise(&$store).await;
                })+
            })+
        }
    };
}

/// Runs every contract test on both stores.
macro_rules! contract {
    ($($promises:tt)+) => {
        promises!(sqlite, crate::stores::Store::sqlite(), $($promises)+);
        promises!(postgres, crate::stores::Store::postgres().await, $($promises)+);
    };
}

// What could depend on a connection that stays the same.
promises! {
    behind_pgbouncer, crate::stores::Store::pgbouncer().await,
    memories {
        many_save_at_once_and_every_position_is_taken_once,
        what_is_forgotten_is_not_found_until_it_is_restored,
    }
    submission {
        a_commit_is_seen_through_a_second_handle_at_once,
        many_can_open_a_fresh_store_at_once,
        a_refused_command_leaves_nothing_behind,
        an_import_opens_its_session,
    }
    repeated_requests {
        the_same_request_sent_many_times_at_once_is_carried_out_once,
    }
    concurrency {
        one_session_with_many_callers_has_no_gaps,
        many_sessions_with_many_callers_have_no_gaps,
        a_command_that_panics_does_not_disturb_others,
        replaying_any_mix_of_commands_gives_what_is_stored,
    }
    queries {
        a_walk_visits_every_session_however_they_move,
        the_journal_is_read_in_pages,
    }
    plan_queries {
        plans_are_found_by_number_and_by_pieces_of_their_id,
        the_author_and_the_last_change_are_found_without_the_earlier_versions,
    }
    leases {
        a_lease_that_ran_out_is_taken_over_with_a_higher_fence,
        one_of_many_gets_the_lease,
    }
    leased_submission {
        of_many_who_compete_one_has_the_session_at_a_time,
    }
    deletion {
        a_deleted_session_is_gone_with_everything,
        a_session_can_be_opened_while_it_is_deleted,
    }
    outbox {
        a_message_is_stored_once_and_taken_by_one_process,
        many_processes_take_each_message_once,
        one_process_receives_and_a_lost_right_stores_nothing,
        a_record_changes_only_from_the_revision_that_was_read,
    }
    pins {
        an_offer_is_accepted_by_its_digest_in_all_processes,
        a_signature_accepts_tools_once,
        a_first_offer_is_accepted_by_rule_only_for_a_name_and_a_command_that_were_never_seen,
    }
    pointers {
        the_session_chosen_last_is_meant,
        many_can_choose_at_once,
    }
    changes {
        what_others_write_is_told,
        what_others_delete_is_told,
        reading_after_each_announcement_misses_nothing,
    }
    plans_anywhere {
        plans_anywhere_are_paged,
        a_plan_is_listed_while_it_may_wait_for_a_person,
        a_write_between_two_pages_of_plans_hides_and_repeats_nothing_else,
    }
    unfinished {
        work_that_no_process_does_is_found,
    }
    counts {
        everything_is_counted,
    }
    claims {
        an_answer_is_kept_as_it_was,
        of_many_who_claim_at_once_one_is_the_first,
    }
    restore {
        a_restored_session_is_the_same_in_everything,
        any_mix_of_commands_is_restored,
    }
    upgrade {
        a_store_of_the_first_version_goes_on,
        many_can_bring_a_store_up_to_date_at_once,
        outcomes_of_the_second_version_are_moved,
        a_process_older_than_the_schema_writes_nothing,
        versions_of_earlier_stores_are_numbered,
    }
    runs {
        every_outcome_comes_back,
        a_plan_of_many_steps_is_carried_out,
    }
}

contract! {
    approvals {
        records_keep_their_order_and_a_number_is_given_once,
    }
    auto {
        a_due_session_is_taken_once_until_its_time_is_over,
        many_who_take_due_sessions_get_each_once,
        ten_thousand_sessions_due_in_one_second_are_taken_in_order_and_none_twice,
        sessions_with_runs_are_found_by_their_state,
        a_deleted_session_has_no_schedule_and_no_run,
        a_restored_session_has_its_schedules_and_runs,
        a_process_is_alive_when_it_says_so_and_forgotten_after_a_day,
        an_agent_is_silent_by_the_clock_of_the_store,
    }
    memories {
        a_memory_is_found_in_its_own_session_only,
        a_promoted_memory_is_found_everywhere_until_it_is_taken_back,
        tasks_share_the_scope_of_their_goal_and_nothing_else,
        a_row_that_should_not_be_there_is_dropped_and_counted,
        what_is_forgotten_is_not_found_until_it_is_restored,
        the_same_request_saves_once,
        many_save_at_once_and_every_position_is_taken_once,
        a_deleted_session_leaves_no_memory_behind,
        a_restored_session_has_its_memories,
        memories_are_listed_in_pages_the_newest_first,
        every_character_of_a_memory_comes_back,
        a_session_that_is_not_there_remembers_nothing,
    }
    lease_renewal {
        an_expired_lease_that_no_owner_took_is_kept,
        a_lease_that_was_given_back_or_taken_is_not_renewed,
        what_belongs_to_a_turn_is_refused_after_it,
        a_repeated_request_is_answered_with_its_own_place_in_the_journal,
    }
    submission {
        a_commit_is_seen_through_a_second_handle_at_once,
        opening_again_finds_everything,
        many_can_open_a_fresh_store_at_once,
        a_refused_command_leaves_nothing_behind,
        a_command_with_nothing_to_change_writes_nothing,
        the_desk_afterwards_has_the_active_and_the_named_plan,
        a_plan_of_another_session_is_not_found,
        an_import_opens_its_session,
        an_id_that_another_session_has_cannot_be_imported,
        an_id_is_imported_once_however_many_want_it,
    }
    repeated_requests {
        the_same_request_is_carried_out_once,
        the_same_request_sent_many_times_at_once_is_carried_out_once,
        the_same_opening_sent_many_times_at_once_opens_once,
        a_request_of_another_session_is_a_conflict,
        what_a_request_wrote_is_found_in_its_session,
        a_refused_request_may_be_sent_again,
    }
    concurrency {
        one_session_with_many_callers_has_no_gaps,
        many_sessions_with_many_callers_have_no_gaps,
        no_recorded_step_is_lost,
        a_refused_command_does_not_disturb_others,
        a_check_while_others_write_finds_everything_whole,
        a_command_that_panics_does_not_disturb_others,
        replaying_any_mix_of_commands_gives_what_is_stored,
    }
    queries {
        a_session_that_is_not_there_is_empty_everywhere,
        sessions_are_paged_the_most_recently_active_first,
        a_write_between_two_pages_of_sessions_hides_and_repeats_nothing_else,
        sessions_active_at_the_same_moment_are_all_listed,
        the_order_of_sessions_holds_over_thousands_of_entries,
        sessions_are_found_by_their_words_the_most_recently_active_first,
        sessions_with_one_key_are_found_on_every_channel,
        the_journal_is_read_in_pages,
        a_session_is_replayed_to_each_of_its_entries,
        a_time_leads_to_the_last_entry_written_by_then,
        a_walk_visits_every_session_however_they_move,
        a_check_under_writes_leaves_no_session_out,
    }
    plan_queries {
        plans_are_paged_the_newest_first,
        plans_are_found_by_number_and_by_pieces_of_their_id,
        the_journal_of_a_plan_has_its_entries_and_no_others,
        the_history_of_a_plan_has_its_versions,
        the_author_and_the_last_change_are_found_without_the_earlier_versions,
        a_changed_index_of_versions_is_found,
        a_built_or_collected_plan_is_compared_without_the_entries_that_led_to_it,
        an_empty_plan_that_was_parked_is_used_again,
        a_round_is_at_hand_beside_the_active_plan,
    }
    leases {
        a_lease_is_held_by_one_owner,
        a_lease_that_ran_out_is_taken_over_with_a_higher_fence,
        a_lease_given_back_is_free_and_its_fence_keeps_growing,
        giving_back_a_lost_lease_is_harmless,
        an_owner_that_lost_the_lease_cannot_write,
        a_repeat_is_answered_whatever_the_lease_is_now,
        a_lease_counts_in_its_own_session_only,
        a_lease_needs_a_session,
        one_of_many_gets_the_lease,
    }
    leased_submission {
        taking_a_session_keeps_everybody_else_out,
        a_refused_command_takes_nothing,
        a_command_with_nothing_to_change_takes_and_lets_go_too,
        a_released_lease_is_free_at_once,
        a_refused_command_does_not_let_go,
        after_a_crash_another_owner_takes_over_and_the_first_cannot_write,
        a_repeated_request_gets_its_outcome_and_the_lease_if_it_is_free,
        leases_change_hands_within_one_batch,
        of_many_who_compete_one_has_the_session_at_a_time,
    }
    conversation {
        a_conversation_is_read_in_pages_without_its_plans,
        damage_to_a_plan_does_not_hide_the_conversation,
        every_character_of_a_turn_comes_back,
        what_was_shown_is_remembered,
        a_repeated_request_has_all_its_events_however_many,
        a_conversation_cut_off_at_its_end_is_found,
    }
    workbook {
        every_character_of_a_document_comes_back,
        of_many_people_who_write_from_one_version_one_is_the_first,
        of_many_concurrent_writers_none_loses_a_line,
        a_repeated_edit_is_made_once,
        one_of_many_begins_the_workbook,
        a_changed_document_is_found,
    }
    deletion {
        a_deleted_session_is_gone_with_everything,
        only_the_holder_of_the_lease_can_delete_a_session,
        the_outcomes_of_a_deleted_session_are_gone,
        a_key_can_be_used_again_and_begins_anew,
        deleting_one_session_does_not_disturb_others,
        a_session_can_be_opened_while_it_is_deleted,
    }
    pins {
        an_offer_is_accepted_by_its_digest_in_all_processes,
        a_signature_accepts_tools_once,
        a_first_offer_is_accepted_by_rule_only_for_a_name_and_a_command_that_were_never_seen,
    }
    pointers {
        the_session_chosen_last_is_meant,
        a_pointer_falls_back_when_its_session_is_deleted,
        a_session_that_is_not_there_cannot_be_chosen,
        a_transport_may_have_any_name_that_fits,
        many_can_choose_at_once,
        every_choice_is_told_in_its_order,
    }
    changes {
        what_this_process_writes_is_told_before_it_is_answered,
        what_others_write_is_told,
        what_changes_nothing_is_not_told,
        what_others_delete_is_told,
        reading_after_each_announcement_misses_nothing,
        a_receiver_that_reads_too_slowly_gets_an_error,
        the_announcements_end_with_the_ledger,
    }
    plans_anywhere {
        plans_are_found_in_every_session_the_latest_first,
        plans_anywhere_are_paged,
        a_plan_is_listed_while_it_may_wait_for_a_person,
        a_waiting_plan_that_is_gone_is_named,
        a_write_between_two_pages_of_plans_hides_and_repeats_nothing_else,
        damage_hides_no_plan_of_others,
    }
    unfinished {
        work_that_no_process_does_is_found,
        work_that_a_process_does_is_not_listed,
        the_work_of_a_process_that_ended_is_free_at_once,
        a_lease_that_lasts_too_long_is_shortened,
        a_released_session_is_not_listed_as_left,
        a_turn_that_asks_a_person_is_found_and_not_unfinished,
        damage_hides_no_unfinished_work,
        unfinished_work_is_walked_by_key_while_sessions_are_written_to,
        a_paused_execution_is_not_unfinished_until_it_is_resumed,
        the_lease_that_a_process_holds_can_be_looked_at,
    }
    counts {
        everything_is_counted,
        after_any_mix_of_commands_the_counts_agree,
    }
    claims {
        a_request_is_new_once,
        an_answer_is_kept_as_it_was,
        a_request_that_came_to_nothing_may_be_sent_again,
        a_name_used_for_something_else_is_told,
        what_is_too_old_is_forgotten,
        of_many_who_claim_at_once_one_is_the_first,
    }
    restore {
        a_restored_session_is_the_same_in_everything,
        any_mix_of_commands_is_restored,
        a_restored_session_goes_on,
        a_session_that_is_there_is_not_restored,
        a_broken_journal_is_not_restored,
        a_journal_whose_plans_are_elsewhere_is_not_restored,
        a_restored_session_is_told,
    }
    health {
        a_store_that_is_well_says_what_it_is,
        many_can_check_while_others_write,
    }
    earlier_versions {
        a_store_of_every_earlier_version_opens,
    }
    upgrade {
        a_store_of_the_first_version_goes_on,
        many_can_bring_a_store_up_to_date_at_once,
        outcomes_of_the_second_version_are_moved,
        damaged_plans_of_the_second_version_stay_as_they_are,
        sessions_of_the_third_version_are_looked_into,
        damaged_sessions_of_the_third_version_stay_as_they_are,
        a_process_older_than_the_schema_writes_nothing,
        versions_of_earlier_stores_are_numbered,
    }
    damage {
        a_damaged_plan_is_reported_and_never_overwritten,
        a_damaged_active_plan_stops_only_drafting,
        a_plan_that_says_it_is_another_is_found,
        a_damaged_status_is_listed_beside_the_others,
        a_damaged_session_is_reported_and_never_overwritten,
        a_damaged_session_does_not_disturb_others,
        a_damaged_entry_is_reported,
        a_changed_entry_is_found,
        a_deleted_entry_is_found,
        swapped_entries_are_found,
        a_journal_cut_off_at_its_end_is_found,
        a_changed_plan_is_found,
        a_deleted_plan_is_found,
        a_newer_schema_is_refused_and_left_alone,
        a_damaged_plan_hides_nothing_that_waits,
        a_session_with_an_unreadable_name_hides_no_other,
    }
    runs {
        every_outcome_comes_back,
        a_step_rewrites_its_own_row_and_no_other,
        a_plan_of_many_steps_is_carried_out,
        a_plan_changed_when_its_last_step_did,
        the_next_execution_takes_the_place_of_the_one_before,
        an_execution_may_have_fewer_steps_than_the_one_before,
        a_parked_plan_is_carried_out_beside_another,
        a_missing_outcome_is_found,
        an_outcome_too_many_is_found,
        a_damaged_outcome_is_found,
        outcomes_beside_a_plan_that_has_none_are_found,
        a_changed_outcome_is_found,
        outcomes_of_a_lost_plan_are_reported,
        a_journal_cut_off_after_a_step_is_found,
    }
    columns {
        every_column_is_compared_or_listed_as_free,
        a_change_of_any_column_that_is_compared_is_found,
    }
    derived_rows {
        the_check_finds_rows_that_do_not_follow_from_the_journal,
        a_deleted_session_leaves_no_row_in_any_table,
    }
    missing_rows {
        a_session_whose_journal_is_gone_takes_nothing_more,
        a_journal_without_its_last_entry_takes_nothing_more,
        a_journal_with_a_forged_entry_at_its_end_is_found,
        what_a_deleted_session_leaves_behind_is_reported,
        many_orphans_are_named_in_part,
        a_plan_whose_row_says_something_else_is_found,
        a_plan_that_was_moved_is_found,
        plans_that_swapped_their_content_are_found,
        no_plan_is_begun_beside_an_unreadable_one,
        no_plan_is_begun_beside_one_that_is_gone,
    }
    shared_files {
        a_list_follows_the_one_that_it_was_made_from,
        pieces_in_the_database,
        a_project_folder_has_a_place,
        a_server_that_stopped_counting_is_ended_once,
    }
    plan_lifecycle {
        the_same_text_again_changes_nothing,
        what_was_asked_first_still_stands_after_a_second_revision,
        a_parked_draft_that_is_revised_is_worked_on_again,
        a_commit_tells_which_plan_was_active_before,
        a_parked_document_goes_on_where_it_stood,
        a_document_with_every_step_ticked_is_complete_when_it_starts,
        a_step_a_person_skipped_stays_skipped,
        a_turn_for_a_step_of_a_parked_plan_has_the_plan_at_hand,
    }
    content {
        every_character_comes_back,
        a_plan_as_large_as_is_allowed_comes_back,
        a_plan_that_is_too_large_is_refused_and_nothing_is_stored,
        arguments_are_nested_as_deeply_as_can_be_read_again,
        a_document_has_no_more_steps_than_are_allowed,
        large_plans_that_are_decided_about_at_once_are_all_stored,
        large_plans_of_many_callers_are_all_stored,
    }
}

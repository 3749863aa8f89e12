//! What each command shows or changes: the one table behind every refetch of the page. It is
//! exported with the bindings; a test of the page holds it against the list of commands, so that a
//! new command cannot be forgotten here.

use domain::CacheTag::{
    self, Banks, Directives, Documents, Endpoints, Memories, Models, Operations, Proposals, Runs,
    Settings, Tags, Versions,
};
use std::collections::BTreeMap;

/// Commands that read, with what they show: the page fetches them again when one of it changes.
const READS: &[(&str, &[CacheTag])] = &[
    ("third_party_notices", &[]),
    ("app_status", &[Settings, Banks]),
    ("look", &[Settings]),
    ("data_folder", &[Settings]),
    ("palette_search", &[Models, Memories, Banks, Documents]),
    ("list_banks", &[Banks, Memories, Documents, Models, Proposals]),
    ("list_memories", &[Memories]),
    ("get_memory", &[Memories, Models]),
    ("plan_import", &[]),
    ("list_documents", &[Documents]),
    ("list_tags", &[Memories, Tags]),
    ("recall", &[Memories]),
    ("list_models", &[Models, Proposals]),
    ("get_model", &[Models, Versions, Proposals]),
    ("scope_reach", &[Memories]),
    ("next_runs", &[]),
    ("check_schema", &[]),
    ("get_dry_run", &[Runs]),
    ("list_refresh_runs", &[Runs, Models]),
    ("list_operations", &[Operations]),
    ("page_operations", &[Operations]),
    ("bank_settings", &[Settings, Banks]),
    ("program_settings", &[Settings]),
    ("list_proposals", &[Proposals]),
    ("get_proposal", &[Proposals]),
    ("preview_proposal", &[Proposals]),
    ("preview_draft", &[Proposals]),
    ("proposal_as_edit", &[Proposals, Models]),
    ("list_reflect_runs", &[Runs]),
    ("get_reflect_run", &[Runs]),
    ("sample_questions", &[Memories]),
    ("estimate_reflect", &[Runs, Memories, Settings, Endpoints]),
    ("recorded_call", &[Runs]),
    ("list_directives", &[Directives]),
    ("directives_in_scope", &[Directives]),
    ("llm_settings", &[Settings, Endpoints]),
    ("discover_endpoints", &[]),
    ("list_llms", &[]),
    ("list_versions", &[Versions, Proposals]),
    ("get_version", &[Versions]),
    ("diff_versions", &[Versions]),
    ("model_blame", &[Models, Versions, Proposals]),
    ("page_tree", &[Models, Proposals]),
    ("page_text", &[Models]),
    ("page_bundle", &[Models, Versions]),
    ("search_pages", &[Models]),
];

/// Commands that write, with what they change whether they succeed or not.
const WRITES: &[(&str, &[CacheTag])] = &[
    ("page_drawn", &[]),
    ("take_opened_files", &[]),
    ("set_look", &[Settings]),
    ("open_bank", &[Settings]),
    ("finish_first_run", &[Settings]),
    ("reopen", &[Settings, Banks]),
    ("create_bank", &[Banks]),
    ("delete_bank", &[Banks, Settings]),
    ("restore_sample", &[Banks, Settings]),
    ("add_memory", &[Memories, Models, Banks]),
    ("edit_memory", &[Memories, Models]),
    ("invalidate_memory", &[Memories, Models, Banks]),
    ("restore_memory", &[Memories, Models, Banks]),
    ("delete_memory", &[Memories, Models, Banks]),
    ("consolidate_now", &[Operations]),
    ("retry_failed_consolidation", &[Operations, Memories, Banks]),
    ("clear_observations", &[Memories, Models, Banks]),
    ("retain_text", &[Operations]),
    ("import_files", &[Operations]),
    ("try_schema", &[]),
    ("reflect_run_text", &[]),
    ("save_reflect_run", &[]),
    ("create_model", &[Models, Operations, Banks]),
    ("update_model", &[Models]),
    ("delete_model", &[Models, Versions, Proposals, Banks]),
    ("refresh_model", &[Operations, Models]),
    ("refresh_in_review", &[Operations, Models]),
    ("change_guidance", &[Models]),
    ("dry_run_model", &[Runs]),
    ("cancel_dry_run", &[]),
    ("keep_dry_run", &[Proposals, Models, Runs]),
    ("drop_dry_run", &[Runs]),
    ("reextract_structured", &[Models, Versions]),
    ("edit_model", &[Models, Versions, Proposals]),
    ("clear_model", &[Models, Versions, Proposals]),
    ("revert_model", &[Models, Versions, Proposals]),
    ("delete_operation", &[Operations]),
    ("cancel_operation", &[Operations, Models]),
    ("retry_operation", &[Operations, Models]),
    ("decide_ops", &[Proposals]),
    ("set_op_note", &[Proposals]),
    ("edit_op", &[Proposals]),
    ("edit_draft", &[Proposals]),
    ("request_again", &[Operations, Models, Proposals]),
    ("resolve_conflict", &[Proposals]),
    ("approve_proposal", &[Proposals, Models, Versions, Banks]),
    ("reject_proposal", &[Proposals, Models, Versions, Banks]),
    ("cancel_reflect", &[Runs]),
    ("ask", &[Runs]),
    ("retry_reflect", &[Runs]),
    ("create_directive", &[Directives, Tags]),
    ("update_directive", &[Directives, Tags]),
    ("move_directive", &[Directives]),
    ("delete_directive", &[Directives]),
    ("restore_directive", &[Directives, Tags]),
    ("save_endpoint", &[Settings, Endpoints]),
    ("delete_endpoint", &[Settings, Endpoints]),
    ("choose_endpoint", &[Settings, Endpoints]),
    ("check_endpoint", &[Settings, Endpoints]),
    ("forget_learnt", &[Settings, Endpoints]),
    ("set_extractive", &[Settings]),
    ("set_bank_settings", &[Settings, Banks, Operations, Models]),
    ("set_program_settings", &[Settings, Operations, Models]),
    ("pin_version", &[Versions]),
    ("note_version", &[Versions]),
    ("set_lock", &[Models]),
    ("remove_lock", &[Models]),
    ("set_publish_target", &[Models, Proposals]),
    ("clear_publish_target", &[Models]),
    ("publish_now", &[Models, Proposals]),
    ("check_published_files", &[Models, Proposals]),
    ("create_folder", &[Models]),
    ("create_page", &[Models, Operations, Banks]),
    ("adopt_model", &[Models]),
    ("release_page", &[Models]),
    ("update_node", &[Models, Operations]),
    ("delete_node", &[Models, Versions, Proposals, Operations, Banks]),
    ("save_page_bundle", &[]),
    ("save_models", &[]),
    ("import_pages", &[Models, Versions, Proposals, Banks]),
];

/// A table as the page reads it: commands by their name there.
pub(crate) type Exported = BTreeMap<String, &'static [CacheTag]>;

/// The reading commands for the page.
pub(crate) fn reads() -> Exported {
    exported(READS)
}

/// The writing commands for the page.
pub(crate) fn writes() -> Exported {
    exported(WRITES)
}

fn exported(table: &[(&str, &'static [CacheTag])]) -> Exported {
    table.iter().map(|(name, tags)| (camel(name), *tags)).collect()
}

/// `list_banks` as the page writes it: `listBanks`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

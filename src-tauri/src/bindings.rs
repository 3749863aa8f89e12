//! The one list of what the page can call and hear, and its types in TypeScript. The generated
//! file is committed; a test holds it in step and rewrites it when `UPDATE_BINDINGS=1` is set
//! (`npm run bindings`).

use crate::commands::{self, window};
use crate::state::{DataChanged, OperationProgressed};
use crate::tags;
use crate::window::FilesOpened;
use tauri_specta::{Builder, ErrorHandlingMode, collect_commands, collect_events};

/// Commands, events and constants. A command that fails rejects its promise with the error, which
/// is what the page's query cache expects; each type is exported once, for both directions.
#[must_use]
pub fn builder() -> Builder<tauri::Wry> {
    Builder::new()
        .commands(collect_commands![
            commands::banks::list_banks,
            commands::banks::create_bank,
            commands::banks::delete_bank,
            commands::banks::restore_sample,
            commands::memories::list_memories,
            commands::memories::get_memory,
            commands::memories::add_memory,
            commands::memories::edit_memory,
            commands::memories::invalidate_memory,
            commands::memories::restore_memory,
            commands::memories::delete_memory,
            commands::memories::consolidate_now,
            commands::memories::retry_failed_consolidation,
            commands::memories::clear_observations,
            commands::memories::retain_text,
            commands::memories::plan_import,
            commands::memories::import_files,
            commands::memories::list_documents,
            commands::memories::list_tags,
            commands::memories::recall,
            commands::reflect::cancel_reflect,
            commands::reflect::list_reflect_runs,
            commands::reflect::get_reflect_run,
            commands::reflect::sample_questions,
            commands::reflect::estimate_reflect,
            commands::reflect::recorded_call,
            commands::reflect::reflect_run_text,
            commands::reflect::save_reflect_run,
            commands::reflect::ask,
            commands::reflect::retry_reflect,
            commands::directives::list_directives,
            commands::directives::directives_in_scope,
            commands::directives::create_directive,
            commands::directives::update_directive,
            commands::directives::move_directive,
            commands::directives::delete_directive,
            commands::directives::restore_directive,
            commands::models::list_models,
            commands::models::get_model,
            commands::models::create_model,
            commands::models::update_model,
            commands::models::delete_model,
            commands::models::refresh_model,
            commands::models::refresh_in_review,
            commands::models::change_guidance,
            commands::models::edit_model,
            commands::models::clear_model,
            commands::models::revert_model,
            commands::models::scope_reach,
            commands::models::next_runs,
            commands::models::check_schema,
            commands::models::try_schema,
            commands::refreshes::dry_run_model,
            commands::refreshes::cancel_dry_run,
            commands::refreshes::get_dry_run,
            commands::refreshes::keep_dry_run,
            commands::refreshes::drop_dry_run,
            commands::refreshes::list_refresh_runs,
            commands::refreshes::reextract_structured,
            commands::versions::list_versions,
            commands::versions::get_version,
            commands::versions::diff_versions,
            commands::versions::pin_version,
            commands::versions::note_version,
            commands::blame::model_blame,
            commands::blame::set_lock,
            commands::blame::remove_lock,
            commands::published::set_publish_target,
            commands::published::clear_publish_target,
            commands::published::publish_now,
            commands::published::check_published_files,
            commands::pages::page_tree,
            commands::pages::create_folder,
            commands::pages::create_page,
            commands::pages::adopt_model,
            commands::pages::release_page,
            commands::pages::update_node,
            commands::pages::delete_node,
            commands::pages::page_text,
            commands::pages::page_bundle,
            commands::pages::save_page_bundle,
            commands::pages::save_models,
            commands::pages::import_pages,
            commands::pages::search_pages,
            commands::proposals::list_proposals,
            commands::proposals::get_proposal,
            commands::proposals::preview_proposal,
            commands::proposals::preview_draft,
            commands::proposals::decide_ops,
            commands::proposals::set_op_note,
            commands::proposals::edit_op,
            commands::proposals::edit_draft,
            commands::proposals::resolve_conflict,
            commands::proposals::approve_proposal,
            commands::proposals::reject_proposal,
            commands::proposals::request_again,
            commands::proposals::proposal_as_edit,
            commands::operations::list_operations,
            commands::operations::page_operations,
            commands::operations::delete_operation,
            commands::operations::cancel_operation,
            commands::operations::retry_operation,
            commands::settings::llm_settings,
            commands::settings::discover_endpoints,
            commands::settings::save_endpoint,
            commands::settings::delete_endpoint,
            commands::settings::choose_endpoint,
            commands::settings::check_endpoint,
            commands::settings::list_llms,
            commands::settings::forget_learnt,
            commands::settings::set_extractive,
            commands::settings::bank_settings,
            commands::settings::set_bank_settings,
            commands::settings::program_settings,
            commands::settings::set_program_settings,
            commands::app::look,
            commands::app::set_look,
            commands::app::open_bank,
            commands::app::finish_first_run,
            commands::app::data_folder,
            commands::app::app_status,
            commands::app::palette_search,
            commands::app::reopen,
            window::page_drawn,
            window::take_opened_files,
            window::third_party_notices,
        ])
        .events(collect_events![FilesOpened, DataChanged, OperationProgressed])
        .constant("READS", tags::reads())
        .constant("WRITES", tags::writes())
        .constant("DISPOSITION_PRESETS", domain::disposition::PRESETS)
        .error_handling(ErrorHandlingMode::Throw)
        .disable_serde_phases()
}

#[cfg(test)]
mod tests {
    use super::*;
    use specta_typescript::Typescript;
    use std::fs;
    use std::path::Path;

    /// `domain::Json` refers to this name. It is written by hand because the type is recursive
    /// and because the exporter refuses the 64-bit integers inside `serde_json::Value`.
    const HEADER: &str = "export type JsonValue =\n  | null\n  | boolean\n  | number\n  | string\n  \
        | JsonValue[]\n  | { [key: string]: JsonValue };\n";

    fn committed() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/platform/bindings.ts")
    }

    #[test]
    fn bindings_are_in_step() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = folder.path().join("bindings.ts");
        builder().export(Typescript::default().header(HEADER), &fresh).unwrap();
        let fresh = fs::read_to_string(fresh).unwrap();
        if std::env::var_os("UPDATE_BINDINGS").is_some_and(|value| value == "1") {
            fs::create_dir_all(committed().parent().unwrap()).unwrap();
            fs::write(committed(), &fresh).unwrap();
        }
        let committed = fs::read_to_string(committed()).unwrap_or_default();
        // Not `assert_eq!`: two whole files as one line of debug text help nobody.
        assert!(fresh == committed, "ui/src/platform/bindings.ts is stale: run `npm run bindings`");
    }
}

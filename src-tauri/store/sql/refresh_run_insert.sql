INSERT INTO refresh_run (
    uid, model_id, operation_uid, trigger_causes, dry_run, requested_mode, effective_mode,
    mode_fallback_reason, outcome, failure_reason, report, scope, "window", facts_retrieved,
    facts_used, ops_applied, ops_noop, ops_skipped, usage, warnings, version, proposal_uid, trace,
    result, skip_count, started_at, finished_at
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    ?21, ?22, ?23, ?24, ?25, ?26, ?27
)

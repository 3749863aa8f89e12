INSERT INTO llm_request (
    uid, bank_id, operation, operation_uid, run_uid, scope, call_type, trace_id, span_id,
    parent_span_id, provider, endpoint_id, llm, prompt_name, prompt_hash, status, started_at,
    ended_at, duration_ms, wait_ms, first_token_ms, input_tokens, output_tokens, cached_tokens,
    thoughts_tokens, total_tokens, estimated, finish_reason, input, output, input_chars,
    output_chars, error, llm_info, metadata, memory_uids
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36
)

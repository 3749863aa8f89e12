INSERT INTO proposal (
    uid, model_id, number, state, reason, origin, granularity, base_version, base_structure,
    candidate_content, candidate_structure, "window", watermark_seq, cutoff_seq, scope,
    source_query, settings, facts_used, structured_output, trace, usage, warnings, operation_uid,
    edited_content, draft_structure, created_at
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    ?21, ?22, ?23, ?24, ?25, ?26
)

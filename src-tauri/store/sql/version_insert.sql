INSERT INTO model_version (
    model_id, version, content, structure, content_hash, based_on, basis, structured_output,
    structured_output_version, reflect_response, trace, cause, actor, operation_uid, proposal_uid,
    accepted_op_ids, note, source_query, settings, watermark_seq, watermark_at, created_at, pinned
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    ?21, ?22, ?23
)

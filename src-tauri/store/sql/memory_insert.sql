INSERT INTO memory (
    uid, bank_id, fact_type, text, context, parts, metadata, tag_set_id, document_id, chunk_id,
    origin, occurred_start, occurred_end, mentioned_at, event_at, created_at, updated_at, scopes,
    consolidated_at, change_seq
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
)

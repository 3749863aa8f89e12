INSERT INTO operation (
    uid, bank_id, operation_type, status, mental_model_uid, document_uid, parent_id, dedupe_key,
    automatic, triggered_by, mode, held_reason, payload, payload_hash, next_retry_at, items_count,
    created_at, updated_at
)
VALUES (
    ?1, ?2, ?3, 'pending', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16
)

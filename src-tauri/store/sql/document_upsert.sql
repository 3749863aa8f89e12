INSERT INTO document (
    bank_id, doc_uid, title, mime, source_path, text, content_hash, context, metadata,
    tag_set_id, event_at, retain_params, created_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13)
ON CONFLICT (bank_id, doc_uid) DO UPDATE SET
    title = excluded.title,
    mime = excluded.mime,
    source_path = excluded.source_path,
    text = excluded.text,
    content_hash = excluded.content_hash,
    context = excluded.context,
    metadata = excluded.metadata,
    tag_set_id = excluded.tag_set_id,
    event_at = excluded.event_at,
    retain_params = excluded.retain_params,
    updated_at = excluded.updated_at
RETURNING id

UPDATE memory SET
    text = ?2,
    context = ?3,
    occurred_start = ?4,
    occurred_end = ?5,
    fact_type = ?6,
    tag_set_id = ?7,
    event_at = ?8,
    edited_at = ?9,
    updated_at = ?9,
    change_seq = ?10,
    parts = iif(?11, NULL, parts),
    consolidated_at = NULL,
    consolidation_failed_at = NULL,
    consolidation_error = NULL
WHERE id = ?1

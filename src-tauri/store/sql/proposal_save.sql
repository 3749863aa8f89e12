UPDATE proposal SET
    state = ?2,
    state_seq = ?3,
    base_version = ?4,
    base_structure = ?5,
    candidate_content = ?6,
    candidate_structure = ?7,
    structured_output = ?8,
    warnings = ?9,
    edited_content = ?10,
    draft_structure = ?11,
    superseded_by = ?12,
    resolved_at = ?13,
    resolution_note = ?14,
    disposition = ?15
WHERE id = ?1

INSERT OR REPLACE INTO proposal_op (
    proposal_id, idx, op_id, op, status, reason, assigned_id, created_block_ids, block_ids,
    merged_into_block_id, targets, requires, hints, grp, evidence, claims, human_touch,
    fingerprint, decision, decided_at, note, marker, conflict
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    ?21, ?22, ?23
)

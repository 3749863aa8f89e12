-- What a timeline and the blame of an earlier version would otherwise work out from whole documents:
-- the size of the change against the version before, and where each block came from.
ALTER TABLE model_version ADD COLUMN change TEXT CHECK (json_valid(change));
ALTER TABLE model_version ADD COLUMN block_origins TEXT CHECK (json_valid(block_origins));

-- All that a timeline shows of a version, so that a list of versions reads none of their texts.
CREATE INDEX model_version_head ON model_version (
    model_id, version, cause, actor, operation_uid, proposal_uid, accepted_op_ids, note,
    source_query, watermark_seq, watermark_at, created_at, pinned, change
);

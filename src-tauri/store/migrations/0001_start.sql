-- The whole schema of the first release. Times are milliseconds since 1970 (UTC), names ending in
-- _at; booleans are 0 or 1; ids of the outside are `uid`, keys of joins are `id`. JSON is checked to
-- be JSON and nothing more: its shape belongs to the domain.

-- Program -----------------------------------------------------------------------------------------

CREATE TABLE embedder (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dim INTEGER NOT NULL CHECK (dim > 0),
    endpoint_id INTEGER REFERENCES endpoint (id) ON DELETE SET NULL,
    prefix_query TEXT NOT NULL,
    prefix_passage TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value)),
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secret_ref (
    name TEXT PRIMARY KEY,
    store TEXT NOT NULL CHECK (store IN ('keychain', 'file', 'env')),
    last4 TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    protocol TEXT NOT NULL
        CHECK (protocol IN ('openai', 'anthropic', 'ollama', 'embedding', 'rerank')),
    base_url TEXT NOT NULL,
    secret_name TEXT REFERENCES secret_ref (name) ON DELETE SET NULL,
    prices TEXT CHECK (json_valid(prices)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX endpoint_secret ON endpoint (secret_name);

CREATE TABLE endpoint_memory (
    endpoint_id INTEGER NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
    llm TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    learned_at INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (endpoint_id, llm, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE server_token (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'approve')),
    bank_uid TEXT,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE TABLE backup (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('daily', 'migration', 'asked')),
    size INTEGER NOT NULL,
    row_counts TEXT NOT NULL CHECK (json_valid(row_counts)),
    checked_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Banks -------------------------------------------------------------------------------------------

CREATE TABLE bank (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    config TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(config)),
    write_seq INTEGER NOT NULL DEFAULT 0,
    last_memory_write_at INTEGER,
    last_consolidated_at INTEGER,
    embedder_id INTEGER REFERENCES embedder (id),
    index_state TEXT NOT NULL DEFAULT 'ok' CHECK (index_state IN ('ok', 'rebuilding', 'stale'))
) STRICT;
CREATE INDEX bank_embedder ON bank (embedder_id);

CREATE TABLE bank_counter (
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    what TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (bank_id, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    UNIQUE (bank_id, name)
) STRICT;

CREATE TABLE tag_set (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    canon TEXT NOT NULL CHECK (json_valid(canon)),
    n INTEGER NOT NULL,
    UNIQUE (bank_id, canon)
) STRICT;

CREATE TABLE tag_set_member (
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_set_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_set_member_tag ON tag_set_member (tag_id, tag_set_id);

CREATE TABLE directive (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX directive_bank ON directive (bank_id, priority DESC, id);
CREATE INDEX directive_tag_set ON directive (tag_set_id);

-- Memory ------------------------------------------------------------------------------------------

CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    doc_uid TEXT NOT NULL,
    title TEXT,
    mime TEXT,
    source_path TEXT,
    text TEXT,
    content_hash BLOB NOT NULL,
    context TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id),
    event_at INTEGER,
    retain_params TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(retain_params)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (bank_id, doc_uid)
) STRICT;
CREATE INDEX document_updated ON document (bank_id, updated_at DESC, id DESC);
CREATE INDEX document_hash ON document (bank_id, content_hash);
CREATE INDEX document_tag_set ON document (tag_set_id);

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    text TEXT NOT NULL,
    hash BLOB NOT NULL,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    extract_state INTEGER NOT NULL DEFAULT 0 CHECK (extract_state IN (0, 1, 2)),
    error TEXT,
    UNIQUE (document_id, idx)
) STRICT;

-- fact_type: 0 world, 1 experience, 2 observation. state: 0 valid, 1 invalidated.
-- origin: 0 extracted, 1 manual, 2 imported, 3 folded.
-- parts: the statement's pieces (what, when, who, …) where extraction gave them apart.
CREATE TABLE memory (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    fact_type INTEGER NOT NULL CHECK (fact_type IN (0, 1, 2)),
    state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1)),
    text TEXT NOT NULL,
    context TEXT,
    parts TEXT CHECK (json_valid(parts)),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id),
    document_id INTEGER REFERENCES document (id) ON DELETE CASCADE,
    chunk_id INTEGER REFERENCES chunk (id) ON DELETE CASCADE,
    origin INTEGER NOT NULL CHECK (origin IN (0, 1, 2, 3)),
    occurred_start INTEGER,
    occurred_end INTEGER,
    mentioned_at INTEGER,
    event_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    edited_at INTEGER,
    invalidated_at INTEGER,
    invalidation_reason TEXT,
    invalidation_snapshot TEXT CHECK (json_valid(invalidation_snapshot)),
    proof_count INTEGER NOT NULL DEFAULT 0,
    scopes TEXT CHECK (json_valid(scopes)),
    consolidated_at INTEGER,
    consolidation_failed_at INTEGER,
    consolidation_error TEXT,
    change_seq INTEGER NOT NULL
) STRICT;
CREATE INDEX m_scope ON memory (bank_id, fact_type, tag_set_id, change_seq) WHERE state = 0;
CREATE INDEX m_event ON memory (bank_id, fact_type, event_at) WHERE state = 0;
CREATE INDEX m_seq ON memory (bank_id, change_seq);
CREATE INDEX m_upd ON memory (bank_id, updated_at);
CREATE INDEX m_created ON memory (bank_id, created_at);
CREATE INDEX m_proof ON memory (bank_id, proof_count);
CREATE INDEX m_todo ON memory (bank_id, tag_set_id, created_at)
    WHERE state = 0 AND fact_type < 2
      AND consolidated_at IS NULL AND consolidation_failed_at IS NULL;
CREATE INDEX m_failed ON memory (bank_id) WHERE consolidation_failed_at IS NOT NULL;
CREATE INDEX m_invalid ON memory (bank_id, invalidated_at) WHERE state = 1;
CREATE INDEX m_doc ON memory (document_id, chunk_id);
CREATE INDEX m_chunk ON memory (chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX m_tag_set ON memory (tag_set_id);
CREATE INDEX m_occ_s ON memory (bank_id, occurred_start)
    WHERE occurred_start IS NOT NULL AND state = 0;
CREATE INDEX m_occ_e ON memory (bank_id, occurred_end) WHERE occurred_end IS NOT NULL AND state = 0;
CREATE INDEX m_span ON memory (bank_id, occurred_start, occurred_end)
    WHERE state = 0 AND occurred_end > occurred_start;
CREATE INDEX m_ment ON memory (bank_id, mentioned_at) WHERE state = 0;

CREATE TABLE tombstone (
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    memory_uid TEXT NOT NULL,
    fact_type INTEGER NOT NULL CHECK (fact_type IN (0, 1, 2)),
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id),
    text TEXT,
    cause TEXT NOT NULL
        CHECK (cause IN ('deleted', 'invalidated', 'replaced', 'swept', 'rescoped')),
    successor_document_id TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (bank_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tombstone_memory ON tombstone (bank_id, memory_uid);
CREATE INDEX tombstone_tag_set ON tombstone (tag_set_id);

CREATE TABLE observation_source (
    observation_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    source_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    PRIMARY KEY (observation_id, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_source_back ON observation_source (source_id, observation_id);

CREATE TABLE observation_history (
    id INTEGER PRIMARY KEY,
    observation_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    changed_at INTEGER NOT NULL,
    prev_text TEXT NOT NULL,
    prev_tags TEXT NOT NULL CHECK (json_valid(prev_tags)),
    prev_times TEXT NOT NULL CHECK (json_valid(prev_times)),
    new_source_ids TEXT NOT NULL CHECK (json_valid(new_source_ids)),
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX observation_history_order ON observation_history (observation_id, changed_at);

CREATE TABLE memory_history (
    id INTEGER PRIMARY KEY,
    memory_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    changed_at INTEGER NOT NULL,
    prev TEXT NOT NULL CHECK (json_valid(prev))
) STRICT;
CREATE INDEX memory_history_order ON memory_history (memory_id, changed_at);

CREATE TABLE topup_queue (
    memory_id INTEGER PRIMARY KEY REFERENCES memory (id) ON DELETE CASCADE,
    queued_at INTEGER NOT NULL
) STRICT;
CREATE INDEX topup_queue_order ON topup_queue (queued_at, memory_id);

-- kind: 0 regular, 1 label.
CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    uid TEXT NOT NULL UNIQUE,
    canonical TEXT NOT NULL,
    canon_key TEXT NOT NULL,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    mention_count INTEGER NOT NULL DEFAULT 0,
    UNIQUE (bank_id, canon_key)
) STRICT;
CREATE INDEX entity_mentions ON entity (bank_id, mention_count DESC, id);

CREATE TABLE memory_entity (
    entity_id INTEGER NOT NULL REFERENCES entity (id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    PRIMARY KEY (entity_id, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entity_back ON memory_entity (memory_id, entity_id);

CREATE TABLE entity_pair (
    a INTEGER NOT NULL REFERENCES entity (id) ON DELETE CASCADE,
    b INTEGER NOT NULL REFERENCES entity (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (a, b),
    CHECK (a < b)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_pair_back ON entity_pair (b, a);

-- kind: 0 semantic, 1 temporal, 2 caused_by, 3 causes, 4 enables, 5 prevents.
CREATE TABLE link (
    from_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 5),
    to_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    weight REAL NOT NULL,
    PRIMARY KEY (from_id, kind, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_back ON link (to_id, kind, from_id);

CREATE VIRTUAL TABLE fts_memory USING fts5 (
    text, context, signals, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE fts_trigram USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram'
);
CREATE VIRTUAL TABLE fts_entity USING fts5 (
    name, content = '', contentless_delete = 1, tokenize = 'trigram'
);
CREATE VIRTUAL TABLE fts_vocab USING fts5vocab (fts_memory, 'row');

-- Mental models -----------------------------------------------------------------------------------

CREATE TABLE mental_model (
    id INTEGER PRIMARY KEY,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    uid TEXT NOT NULL,
    name TEXT NOT NULL,
    source_query TEXT NOT NULL,
    content TEXT NOT NULL DEFAULT '',
    structure TEXT NOT NULL CHECK (json_valid(structure)),
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    tag_set_id INTEGER NOT NULL REFERENCES tag_set (id),
    max_tokens INTEGER NOT NULL DEFAULT 2048,
    trigger TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(trigger)),
    review TEXT NOT NULL DEFAULT 'auto' CHECK (review IN ('auto', 'manual')),
    version INTEGER NOT NULL DEFAULT 0,
    placeholder INTEGER NOT NULL DEFAULT 1 CHECK (placeholder IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_refreshed_at INTEGER,
    last_memory_seen_at INTEGER,
    last_memory_seen_seq INTEGER,
    considered_seq INTEGER,
    last_refreshed_source_query TEXT,
    reflect_response TEXT CHECK (json_valid(reflect_response)),
    last_run TEXT CHECK (json_valid(last_run)),
    carry_over TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(carry_over)),
    guidance TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(guidance)),
    delta_failures INTEGER NOT NULL DEFAULT 0,
    failure_streak INTEGER NOT NULL DEFAULT 0,
    last_refresh_failed_at INTEGER,
    last_full_refreshed_at INTEGER,
    last_cron_fire_at INTEGER,
    last_full_cron_fire_at INTEGER,
    paused_until INTEGER,
    UNIQUE (bank_id, uid)
) STRICT;
CREATE INDEX model_order
    ON mental_model (bank_id, coalesce(last_refreshed_at, created_at) DESC, id DESC);
CREATE INDEX model_tag_set ON mental_model (bank_id, tag_set_id);
CREATE INDEX model_tag_set_back ON mental_model (tag_set_id);

CREATE TABLE model_version (
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    structure TEXT NOT NULL CHECK (json_valid(structure)),
    content_hash BLOB NOT NULL,
    based_on TEXT NOT NULL CHECK (json_valid(based_on)),
    basis TEXT CHECK (basis IN ('cited', 'retrieved')),
    structured_output TEXT CHECK (json_valid(structured_output)),
    structured_output_version INTEGER,
    reflect_response TEXT CHECK (json_valid(reflect_response)),
    trace TEXT CHECK (json_valid(trace)),
    cause TEXT NOT NULL
        CHECK (cause IN ('created', 'refresh_full', 'refresh_delta', 'retraction', 'proposal',
                         'edit', 'clear', 'revert', 'import')),
    actor TEXT NOT NULL
        CHECK (actor IN ('person', 'after_consolidation', 'after_deletion', 'cron',
                         'manual_refresh', 'import')),
    operation_uid TEXT,
    proposal_uid TEXT,
    accepted_op_ids TEXT CHECK (json_valid(accepted_op_ids)),
    note TEXT,
    source_query TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    watermark_seq INTEGER,
    watermark_at INTEGER,
    created_at INTEGER NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    PRIMARY KEY (model_id, version)
) STRICT;

CREATE TABLE model_citation (
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    fact_type INTEGER NOT NULL CHECK (fact_type IN (0, 1, 2)),
    memory_uid TEXT NOT NULL,
    text TEXT NOT NULL,
    first_cited_version INTEGER NOT NULL,
    PRIMARY KEY (model_id, fact_type, memory_uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_citation_memory ON model_citation (memory_uid);

CREATE TABLE block_source (
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    block_id TEXT NOT NULL,
    source TEXT NOT NULL,
    memory_uid TEXT,
    version INTEGER NOT NULL,
    op_id TEXT,
    PRIMARY KEY (model_id, block_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_author (
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    block_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    operation_uid TEXT,
    proposal_uid TEXT,
    op_id TEXT,
    author TEXT NOT NULL CHECK (author IN ('person', 'run', 'import')),
    at INTEGER NOT NULL,
    PRIMARY KEY (model_id, block_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_lock (
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('block', 'section')),
    element_id TEXT NOT NULL,
    locked_at INTEGER NOT NULL,
    note TEXT,
    PRIMARY KEY (model_id, kind, element_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE publish_target (
    model_id INTEGER PRIMARY KEY REFERENCES mental_model (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    front_matter INTEGER NOT NULL DEFAULT 0 CHECK (front_matter IN (0, 1)),
    last_hash BLOB,
    last_version INTEGER,
    state TEXT NOT NULL CHECK (state IN ('ok', 'changed_outside', 'failed')),
    error TEXT,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE proposal (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('open', 'in_review', 'conflicted', 'approved', 'partially_approved',
                         'rejected', 'superseded')),
    state_seq INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL
        CHECK (reason IN ('review_manual', 'large_removal', 'delta_wedged', 'document_changed',
                          'kept_dry_run', 'outside_edit')),
    origin TEXT NOT NULL CHECK (origin IN ('full', 'delta', 'retraction', 'file')),
    granularity TEXT NOT NULL CHECK (granularity IN ('ops', 'whole')),
    base_version INTEGER NOT NULL,
    base_structure TEXT NOT NULL CHECK (json_valid(base_structure)),
    candidate_content TEXT NOT NULL,
    candidate_structure TEXT NOT NULL CHECK (json_valid(candidate_structure)),
    "window" TEXT NOT NULL CHECK (json_valid("window")),
    watermark_seq INTEGER,
    cutoff_seq INTEGER NOT NULL,
    scope TEXT NOT NULL CHECK (json_valid(scope)),
    source_query TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    facts_used TEXT NOT NULL CHECK (json_valid(facts_used)),
    structured_output TEXT CHECK (json_valid(structured_output)),
    trace TEXT NOT NULL CHECK (json_valid(trace)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    warnings TEXT NOT NULL CHECK (json_valid(warnings)),
    operation_uid TEXT,
    edited_content TEXT,
    draft_structure TEXT CHECK (json_valid(draft_structure)),
    superseded_by TEXT,
    created_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution_note TEXT,
    disposition TEXT CHECK (disposition IN ('retry', 'dismiss')),
    UNIQUE (model_id, number)
) STRICT;
CREATE UNIQUE INDEX proposal_waiting ON proposal (model_id)
    WHERE state IN ('open', 'in_review', 'conflicted');

CREATE TABLE proposal_op (
    proposal_id INTEGER NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    op_id TEXT NOT NULL,
    op TEXT NOT NULL CHECK (json_valid(op)),
    status TEXT NOT NULL CHECK (status IN ('applied', 'noop', 'skipped')),
    reason TEXT,
    assigned_id TEXT,
    created_block_ids TEXT CHECK (json_valid(created_block_ids)),
    block_ids TEXT CHECK (json_valid(block_ids)),
    merged_into_block_id TEXT,
    targets TEXT NOT NULL CHECK (json_valid(targets)),
    requires TEXT NOT NULL CHECK (json_valid(requires)),
    hints TEXT NOT NULL CHECK (json_valid(hints)),
    grp TEXT,
    evidence TEXT NOT NULL CHECK (json_valid(evidence)),
    claims TEXT NOT NULL CHECK (json_valid(claims)),
    human_touch INTEGER NOT NULL DEFAULT 0 CHECK (human_touch IN (0, 1)),
    fingerprint TEXT NOT NULL,
    decision TEXT NOT NULL DEFAULT 'undecided'
        CHECK (decision IN ('undecided', 'accepted', 'rejected', 'deferred')),
    decided_at INTEGER,
    note TEXT,
    marker TEXT CHECK (marker IN ('reworded', 'already_done', 'carried')),
    conflict TEXT
        CHECK (conflict IN ('text_changed', 'moved', 'missing', 'dependency',
                            'evidence_withdrawn')),
    PRIMARY KEY (proposal_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE proposal_event (
    id INTEGER PRIMARY KEY,
    proposal_id INTEGER NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail))
) STRICT;
CREATE INDEX proposal_event_order ON proposal_event (proposal_id, at, id);

CREATE TABLE refresh_run (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    model_id INTEGER NOT NULL REFERENCES mental_model (id) ON DELETE CASCADE,
    operation_uid TEXT,
    trigger_causes TEXT NOT NULL CHECK (json_valid(trigger_causes)),
    dry_run INTEGER NOT NULL DEFAULT 0 CHECK (dry_run IN (0, 1)),
    requested_mode TEXT NOT NULL CHECK (requested_mode IN ('full', 'delta')),
    effective_mode TEXT CHECK (effective_mode IN ('full', 'delta')),
    mode_fallback_reason TEXT,
    outcome TEXT NOT NULL,
    failure_reason TEXT,
    report TEXT CHECK (json_valid(report)),
    scope TEXT NOT NULL CHECK (json_valid(scope)),
    "window" TEXT NOT NULL CHECK (json_valid("window")),
    facts_retrieved TEXT NOT NULL CHECK (json_valid(facts_retrieved)),
    facts_used TEXT NOT NULL CHECK (json_valid(facts_used)),
    ops_applied INTEGER NOT NULL DEFAULT 0,
    ops_noop INTEGER NOT NULL DEFAULT 0,
    ops_skipped INTEGER NOT NULL DEFAULT 0,
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    warnings TEXT NOT NULL CHECK (json_valid(warnings)),
    version INTEGER,
    proposal_uid TEXT,
    trace TEXT CHECK (json_valid(trace)),
    result TEXT CHECK (json_valid(result)),
    skip_count INTEGER,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL
) STRICT;
CREATE INDEX refresh_run_kept ON refresh_run (id) WHERE dry_run = 1 AND result IS NOT NULL;
CREATE INDEX refresh_run_order ON refresh_run (model_id, id DESC);

CREATE TABLE kb_node (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'page')),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    parent_id INTEGER REFERENCES kb_node (id) ON DELETE CASCADE,
    model_id INTEGER REFERENCES mental_model (id) ON DELETE CASCADE,
    sort_order INTEGER NOT NULL,
    managed INTEGER NOT NULL DEFAULT 0 CHECK (managed IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX kb_node_name ON kb_node (bank_id, coalesce(parent_id, 0), name_key);
CREATE INDEX kb_node_parent ON kb_node (parent_id);
CREATE INDEX kb_node_model ON kb_node (model_id);

CREATE VIRTUAL TABLE fts_model USING fts5 (
    name, content, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Work --------------------------------------------------------------------------------------------

CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    operation_type TEXT NOT NULL
        CHECK (operation_type IN ('retain', 'batch_retain', 'consolidation', 'graph_maintenance',
                                  'refresh_mental_model', 'curate', 'embed_backfill',
                                  'rebuild_index', 'import', 'export', 'backup', 'push', 'pull')),
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    mental_model_uid TEXT,
    document_uid TEXT,
    parent_id INTEGER REFERENCES operation (id) ON DELETE SET NULL,
    dedupe_key TEXT,
    automatic INTEGER NOT NULL DEFAULT 0 CHECK (automatic IN (0, 1)),
    triggered_by TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(triggered_by)),
    mode TEXT CHECK (mode IN ('full')),
    rerun INTEGER NOT NULL DEFAULT 0 CHECK (rerun IN (0, 1)),
    held_reason TEXT
        CHECK (held_reason IN ('review_in_progress', 'llm_not_configured', 'token_ceiling',
                               'paused_by_person')),
    payload TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
    payload_hash BLOB NOT NULL,
    progress TEXT CHECK (json_valid(progress)),
    result TEXT CHECK (json_valid(result)),
    details TEXT CHECK (json_valid(details)),
    error_reason TEXT,
    error_message TEXT,
    retry_count INTEGER NOT NULL DEFAULT 0,
    next_retry_at INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    items_count INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX operation_dedupe ON operation (bank_id, dedupe_key)
    WHERE status = 'pending' AND dedupe_key IS NOT NULL;
CREATE INDEX operation_claim ON operation (status, next_retry_at, id);
CREATE INDEX operation_list ON operation (bank_id, created_at DESC, id DESC);
CREATE INDEX operation_model ON operation (bank_id, mental_model_uid, status)
    WHERE mental_model_uid IS NOT NULL;
CREATE INDEX operation_parent ON operation (parent_id);

CREATE TABLE reflect_run (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    bank_id INTEGER NOT NULL REFERENCES bank (id) ON DELETE CASCADE,
    query TEXT NOT NULL,
    request TEXT NOT NULL CHECK (json_valid(request)),
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
    text TEXT,
    structured_output TEXT CHECK (json_valid(structured_output)),
    structured_output_error TEXT CHECK (json_valid(structured_output_error)),
    based_on TEXT CHECK (json_valid(based_on)),
    evidence_spans TEXT CHECK (json_valid(evidence_spans)),
    trace TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(trace)),
    usage TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(usage)),
    warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(warnings)),
    report TEXT CHECK (json_valid(report)),
    material TEXT CHECK (json_valid(material)),
    origin TEXT NOT NULL CHECK (origin IN ('window', 'rest', 'mcp')),
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    started_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE INDEX reflect_run_going ON reflect_run (id) WHERE status = 'running';
CREATE INDEX reflect_run_order ON reflect_run (bank_id, id DESC);

CREATE TABLE llm_request (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    bank_id INTEGER REFERENCES bank (id) ON DELETE CASCADE,
    operation TEXT NOT NULL,
    operation_uid TEXT,
    run_uid TEXT,
    scope TEXT NOT NULL,
    call_type TEXT NOT NULL CHECK (call_type IN ('llm', 'embedding', 'rerank')),
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    parent_span_id TEXT,
    provider TEXT NOT NULL,
    endpoint_id INTEGER REFERENCES endpoint (id) ON DELETE SET NULL,
    llm TEXT NOT NULL,
    prompt_name TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('success', 'error')),
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    wait_ms INTEGER NOT NULL DEFAULT 0,
    first_token_ms INTEGER,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    thoughts_tokens INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)),
    finish_reason TEXT,
    input TEXT,
    output TEXT,
    input_chars INTEGER NOT NULL DEFAULT 0,
    output_chars INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    llm_info TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(llm_info)),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    memory_uids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(memory_uids))
) STRICT;
CREATE INDEX llm_request_list ON llm_request (bank_id, started_at DESC, id DESC);
CREATE INDEX llm_request_age ON llm_request (started_at);
CREATE INDEX llm_request_trace ON llm_request (trace_id);
CREATE INDEX llm_request_run ON llm_request (run_uid) WHERE run_uid IS NOT NULL;
CREATE INDEX llm_request_endpoint ON llm_request (endpoint_id);

-- No foreign key: the sums outlive the bank. bank_id 0 stands for calls outside any bank.
CREATE TABLE llm_usage_day (
    bank_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    day TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    PRIMARY KEY (bank_id, kind, model, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX llm_usage_by_day ON llm_usage_day (day, bank_id);

/** The types of the commands, until the generated bindings carry all of them. */

export type BankId = string & { readonly __brand: "BankId" };

export type DocumentId = string & { readonly __brand: "DocumentId" };

export type ModelId = string & { readonly __brand: "ModelId" };

export type MemoryId = string & { readonly __brand: "MemoryId" };

export type ChunkId = string & { readonly __brand: "ChunkId" };

export type DirectiveId = string & { readonly __brand: "DirectiveId" };

export type OperationId = string & { readonly __brand: "OperationId" };

export type ProposalId = string & { readonly __brand: "ProposalId" };

export type LlmRequestId = string & { readonly __brand: "LlmRequestId" };

export type EndpointId = string & { readonly __brand: "EndpointId" };

export type RunId = string & { readonly __brand: "RunId" };

export type EntityId = string & { readonly __brand: "EntityId" };

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };
export type Json = JsonValue;
export type Instant = string;

export type AppStatus = {
  version: string;
  data_folder: string;
  blocked: Report | null;
  answering: Answering;
  embedder: EmbedderStatus;
  bank: BankId | null;
  sample_bank: BankId | null;
  first_run_done: boolean;
};

export type EmbedderStatus = {
  name: string;
  dim: number;
  ready: boolean;
  problem: Report | null;
};

export type Changed = {
  bank: BankId | null;
  tags: CacheTag[];
};

export type PaletteHit = {
  kind: PaletteKind;
  id: string;
  title: string;
  place: string;
};

export type DataFolder = {
  path: string;
  size: number;
};

export type Answering =
  | { kind: "extractive" }
  | { kind: "llm"; endpoint: string; llm: string; local: boolean }
  | { kind: "nothing" };

export type PaletteKind = "model" | "memory" | "bank" | "document";

export type BankRow = {
  id: BankId;
  name: string;
  facts: number;
  observations: number;
  documents: number;
  models: number;
  waiting_reviews: number;
  last_memory_write_at: Instant | null;
  created_at: Instant;
};

export type NewBank = {
  name: string;
  id: BankId | null;
};

export type WordSpan = {
  kind: SpanKind;
  text: string;
};

export type DiffEntry = {
  kind: DiffKind;
  section_id: string;
  block_id: string | null;
  level: number;
  old_text: string | null;
  new_text: string | null;
  words: WordSpan[];
  op_ids: string[];
};

export type DocDiff = {
  entries: DiffEntry[];
  unified: string;
};

export type SpanKind = "same" | "added" | "removed";

export type DiffKind =
  | "section_added"
  | "section_removed"
  | "section_renamed"
  | "section_moved"
  | "block_added"
  | "block_removed"
  | "block_changed"
  | "unchanged";

export type MemoryRow = {
  id: MemoryId;
  fact_type: FactType;
  text: string;
  context: string | null;
  entities: string[];
  tags: string[];
  occurred_start: Instant | null;
  occurred_end: Instant | null;
  mentioned_at: Instant | null;
  created_at: Instant;
  updated_at: Instant;
  proof_count: number | null;
  state: MemoryState;
  edited: boolean;
  pending_consolidation: boolean;
  document: DocumentRef | null;
};

export type DocumentRef = {
  id: DocumentId;
  title: string;
};

export type ModelRef = {
  id: ModelId;
  name: string;
};

export type ChunkView = {
  id: ChunkId;
  index: number;
  text: string;
};

export type MemoryDetail = {
  memory: MemoryRow;
  metadata: { [key: string]: string };
  chunk: ChunkView | null;
  observations: MemoryRow[];
  sources: MemoryRow[];
  cited_by: ModelRef[];
  invalidation_reason: string | null;
};

export type MemoryFilter = {
  fact_types?: FactType[] | null;
  state?: MemoryState | null;
  tags?: string[];
  entity?: string | null;
  document?: DocumentId | null;
  words?: string | null;
  after?: Instant | null;
  before?: Instant | null;
};

export type MemoryPage = {
  page: Page<MemoryRow>;
  counts: KindCounts;
};

export type KindCounts = {
  world: number;
  experience: number;
  observation: number;
};

export type NewFact = {
  text: string;
  fact_type?: FactType | null;
  context?: string | null;
  occurred_start?: Instant | null;
  occurred_end?: Instant | null;
  mentioned_at?: Instant | null;
  tags?: string[];
  metadata?: { [key: string]: string };
  entities?: string[];
};

export type RetainText = {
  text: string;
  document_id?: DocumentId | null;
  title?: string | null;
  context?: string | null;
  timestamp?: Instant | null;
  tags?: string[];
  mode?: ExtractionMode | null;
};

export type ImportFiles = {
  paths: string[];
  tags?: string[];
  mode?: ExtractionMode | null;
};

export type ImportPlan = {
  files: ImportFile[];
};

export type ImportFile = {
  path: string;
  name: string;
  kind: ImportKind;
  size: number;
  problem: string | null;
};

export type ImportResult = {
  documents?: number;
  facts?: number;
  skipped?: Skipped[];
};

export type Skipped = {
  file: string;
  line: number | null;
  reason: string;
};

export type EditFact = {
  text?: string | null;
  tags?: string[] | null;
  occurred_start?: Instant | null;
  occurred_end?: Instant | null;
};

export type DocumentRow = {
  id: DocumentId;
  title: string;
  facts: number;
  tags: string[];
  updated_at: Instant;
};

export type MemoryState = "valid" | "invalidated";

export type ExtractionMode = "concise" | "chunks";

export type ImportKind = "facts" | "document" | "left_out";

export type Page<T> = {
  items: T[];
  total: number;
  next: string | null;
};

export type OpenProposal = {
  id: ProposalId;
  number: number;
  operations: number;
};

export type ModelRow = {
  id: ModelId;
  name: string;
  source_query: string;
  tags: string[];
  state: ModelState;
  parked_until: Instant | null;
  newer: number | null;
  refresh_reasons: string[];
  mode: string;
  refresh_cron: string | null;
  refresh_after_consolidation: boolean;
  review: ReviewMode;
  version: number;
  placeholder: boolean;
  last_refreshed_at: Instant | null;
  last_memory_seen_at: Instant | null;
  open_proposal: OpenProposal | null;
  document_tokens: number;
  max_tokens: number;
  created_at: Instant;
};

export type EvidenceItem = {
  id: string;
  text: string;
  kind: string;
  context: string | null;
  occurred_start: Instant | null;
  mentioned_at: Instant | null;
  document: string | null;
  first_cited_version: number | null;
  gone: boolean;
};

export type BlockBlame = {
  block_id: string;
  version: number;
  at: Instant;
  author: Author;
  proposal: OpenProposal | null;
  operation: number | null;
  sources: string[];
};

export type LastRun = {
  operation: OperationId | null;
  started_at: Instant;
  finished_at: Instant;
  requested_mode: string;
  effective_mode: string;
  mode_fallback_reason: string | null;
  outcome: string;
  report: Report | null;
  warnings: RunWarning[];
  trace: Json | null;
};

export type RunWarning = {
  code: string;
  message: string;
};

export type ModelDetail = {
  model: ModelRow;
  content: string;
  structure: Document;
  blame: BlockBlame[];
  based_on: EvidenceItem[];
  extractive: boolean;
  newer: EvidenceItem[];
  last_run: LastRun | null;
  structured_output: Json | null;
  trigger: Trigger;
  stated_keys: string[];
  next_runs: Instant[];
};

export type NewModel = {
  id?: string | null;
  name: string;
  source_query: string;
  tags?: string[];
  max_tokens?: number | null;
  trigger?: Json | null;
  review?: ReviewMode | null;
  content?: string | null;
};

export type ModelPatch = {
  name?: string | null;
  source_query?: string | null;
  tags?: string[] | null;
  max_tokens?: number | null;
  trigger?: Json | null;
  review?: ReviewMode | null;
};

export type CreatedModel = {
  id: ModelId;
  operation: OperationId | null;
};

export type Submitted = {
  operation: OperationId;
  deduplicated: boolean;
};

export type ScopeReach = {
  memories: number;
};

export type ChangeSize = {
  added: number;
  removed: number;
  changed: number;
};

export type DecisionCounts = {
  accepted: number;
  rejected: number;
  deferred: number;
  undecided: number;
};

export type VersionView = {
  version: number;
  content: string;
  structure: Document;
  based_on: EvidenceItem[];
  source_query: string;
  created_at: Instant;
  trace: Json | null;
};

export type VersionDiff = {
  from: number;
  to: number;
  diff: DocDiff;
  evidence_gone: EvidenceItem[];
  evidence_new: EvidenceItem[];
};

export type ModelState =
  | "refreshing"
  | "conflicted"
  | "waiting_for_review"
  | "needs_attention"
  | "failed"
  | "parked"
  | "never_refreshed"
  | "behind"
  | "unknown"
  | "current";

export type ReviewMode = "auto" | "manual";

export type Author = "person" | "run" | "import";

export type TimelineEntry =
  | {
      kind: "version";
      version: number;
      cause: string;
      actor: string;
      at: Instant;
      note: string | null;
      change: ChangeSize;
      proposal: OpenProposal | null;
      decisions: DecisionCounts | null;
      pinned: boolean;
    }
  | { kind: "proposal"; proposal: OpenProposal; state: string; at: Instant; note: string | null }
  | { kind: "failed_run"; at: Instant; outcome: string; report: Report | null };

export type Progress = {
  stage: string;
  processed: number | null;
  total: number | null;
  detail: string | null;
};

export type OperationRow = {
  id: OperationId;
  bank: BankId;
  operation_type: string;
  status: OperationStatus;
  subject: string | null;
  mental_model_id: ModelId | null;
  progress: Progress | null;
  triggered_by: string[];
  held_reason: string | null;
  next_retry_at: Instant | null;
  retry_count: number;
  details: Json | null;
  result: Json | null;
  error_reason: string | null;
  error_message: string | null;
  created_at: Instant;
  started_at: Instant | null;
  completed_at: Instant | null;
};

export type OperationProgress = {
  id: OperationId;
  bank: BankId;
  progress: Progress;
};

export type OperationStatus = "pending" | "processing" | "completed" | "failed" | "cancelled";

export type ProposalRow = {
  id: ProposalId;
  number: number;
  model_id: ModelId;
  model_name: string;
  state: ProposalState;
  reason: string;
  origin: string;
  triggered_by: string[];
  operations: number;
  decisions: DecisionCounts;
  facts_read: number;
  facts_used: number;
  newer: number;
  created_at: Instant;
};

export type OpHint = {
  op_id: string;
  kind: string;
};

export type ClaimView = {
  quote: string;
  evidence: string[];
};

export type ConflictView = {
  kind: string;
  base: string | null;
  current: string | null;
  proposed: string | null;
};

export type OpView = {
  op_id: string;
  number: number;
  kind: string;
  status: string;
  reason: string | null;
  section_id: string | null;
  heading: string | null;
  block_id: string | null;
  old_text: string | null;
  new_text: string | null;
  proposed_text: string | null;
  words: WordSpan[];
  before: string | null;
  after: string | null;
  decision: OpDecision;
  note: string | null;
  requires: string[];
  required_by: string[];
  hints: OpHint[];
  group: string | null;
  evidence: EvidenceItem[];
  old_evidence: EvidenceItem[];
  claims: ClaimView[];
  human_touch: boolean;
  unsupported: boolean;
  oversized: boolean;
  marker: string | null;
  conflict: ConflictView | null;
};

export type ProposalView = {
  row: ProposalRow;
  state_seq: number;
  base_version: number;
  whole: boolean;
  extractive: boolean;
  source_query: string;
  ops: OpView[];
  base: Document;
  warnings: RunWarning[];
  banners: string[];
  read_to: Instant | null;
  trace: Json | null;
  operation: OperationId | null;
  superseded_by: ProposalId | null;
  published_version: number | null;
  resolution_note: string | null;
};

export type Preview = {
  content: string;
  diff: DocDiff;
  document_tokens: number;
  max_tokens: number;
  confirm: string[];
};

export type DecideOps = {
  op_ids: string[];
  decision: OpDecision;
};

export type ApproveInput = {
  confirmed?: boolean;
  note?: string | null;
  draft?: string | null;
  without_structured_output?: boolean;
};

export type RejectInput = {
  note?: string | null;
  disposition?: RejectDisposition | null;
  standing?: boolean;
};

export type Published = {
  model_id: ModelId;
  version: number;
};

export type ProposalState =
  | "open"
  | "in_review"
  | "conflicted"
  | "approved"
  | "partially_approved"
  | "rejected"
  | "superseded";

export type OpDecision = "undecided" | "accepted" | "rejected" | "deferred";

export type PreviewOf = "accepted" | "everything";

export type RejectDisposition = "retry" | "dismiss";

export type ConflictChoice =
  | { kind: "keep_mine" }
  | { kind: "take_proposed" }
  | { kind: "edit"; text: string };

export type RecallInput = {
  query: string;
  budget?: Budget | null;
  fact_types?: FactType[] | null;
  tags?: string[];
  tags_match?: string | null;
  max_tokens?: number | null;
};

export type WayRank = {
  way: Way;
  rank: number;
  score: number;
};

export type RecallHit = {
  memory: MemoryRow;
  score: number;
  ways: WayRank[];
};

export type WaySkipped = {
  way: Way;
  reason: string;
};

export type RecallView = {
  hits: RecallHit[];
  models: ModelRef[];
  window: TimeWindow | null;
  skipped: WaySkipped[];
  duration_ms: number;
};

export type TimeWindow = {
  start: Instant;
  end: Instant;
};

export type Way = "semantic" | "keyword" | "graph" | "temporal";

export type ReflectInput = {
  query: string;
  budget?: Budget | null;
  max_tokens?: number | null;
  tags?: string[] | null;
  tags_match?: string | null;
  fact_types?: FactType[] | null;
  exclude_mental_models?: boolean;
  response_schema?: Json | null;
};

export type ReflectRow = {
  id: RunId;
  query: string;
  status: RunStatus;
  started_at: Instant;
};

export type ReflectRunView = {
  id: RunId;
  request: ReflectInput;
  status: RunStatus;
  text: string | null;
  extractive: boolean;
  confidence: ExtractiveState | null;
  confidence_score: number | null;
  based_on: EvidenceItem[];
  unused: EvidenceItem[];
  evidence_spans: EvidenceSpan[];
  structured_output: Json | null;
  structured_output_error: RunWarning | null;
  warnings: RunWarning[];
  trace: Trace;
  usage: Usage;
  report: Report | null;
  started_at: Instant;
  finished_at: Instant | null;
};

export type RunStatus = "running" | "finished" | "failed" | "cancelled";

export type KeyState = {
  store: KeyStore;
  last4: string;
};

export type EndpointView = {
  id: EndpointId;
  name: string;
  protocol: Protocol;
  base_url: string;
  llm: string | null;
  key: KeyState | null;
  local: boolean;
  in_use: boolean;
  learnt: LearntFact[];
  check: CheckReport | null;
  checked_at: Instant | null;
};

export type LearntFact = {
  key: string;
  value: Json;
  learned_at: Instant;
};

export type SaveEndpoint = {
  id: EndpointId | null;
  name: string;
  protocol: Protocol;
  base_url: string;
  llm: string | null;
  key: string | null;
  key_fallback: KeyStore | null;
};

export type CheckLine = {
  key: string;
  verdict: CheckVerdict;
  words: string;
  remedy: string | null;
};

export type CheckReport = {
  usable: boolean;
  summary: string;
  lines: CheckLine[];
};

export type FoundServer = {
  name: string;
  protocol: Protocol;
  base_url: string;
  llms: string[];
};

export type LlmSettings = {
  endpoints: EndpointView[];
  extractive: boolean;
  keychain: boolean;
};

export type Look = {
  theme?: Theme;
  text_zoom?: number;
  single_keys?: boolean;
  tour_done?: boolean;
};

export type Protocol = "openai" | "anthropic" | "ollama";

export type KeyStore = "keychain" | "file" | "env" | "session";

export type CheckVerdict = "pass" | "warn" | "fail" | "skipped";

export type Theme = "system" | "light" | "dark";

export type RunRef = {
  id: RunId;
};

export type Report = {
  code: ErrorCode;
  reason: string;
  message: string;
  hint: string | null;
  fields: FieldFault[];
  retryable: boolean;
  detail: string | null;
  run: RunRef | null;
};

export type ErrorCode =
  | "not_found"
  | "invalid_input"
  | "invalid_schema"
  | "invalid_cron"
  | "access_denied"
  | "conflict"
  | "provider_not_configured"
  | "provider_auth"
  | "provider_rate_limited"
  | "provider_unreachable"
  | "provider_refused"
  | "model_lacks_tools"
  | "model_output_invalid"
  | "context_overflow"
  | "evidence_unavailable"
  | "empty_answer"
  | "delta_not_applied"
  | "structured_output_failed"
  | "directive_violation"
  | "timed_out"
  | "busy"
  | "index_rebuilding"
  | "cancelled"
  | "disk_full"
  | "database_newer"
  | "database_damaged"
  | "keychain_unavailable"
  | "io"
  | "import_invalid"
  | "unsupported_file"
  | "internal";

export type FieldFault = {
  field: string;
  code: string;
  message: string;
};

export type FactType = "world" | "experience" | "observation";

export type CacheTag =
  | "banks"
  | "documents"
  | "memories"
  | "entities"
  | "tags"
  | "directives"
  | "models"
  | "versions"
  | "proposals"
  | "operations"
  | "runs"
  | "llm_requests"
  | "settings"
  | "endpoints"
  | "backups";

export type StructuredOutputError = {
  kind: StructuredOutputErrorKind;
  message: string;
};

export type ReflectResponse = {
  run_id: string;
  text: string;
  structured_output: Json | null;
  structured_output_error: StructuredOutputError | null;
  based_on: BasedOn | null;
  usage: Usage;
  trace: Trace | null;
  evidence_spans: EvidenceSpan[];
  warnings: Warning[];
};

export type Budget = "low" | "mid" | "high";

export type StructuredOutputErrorKind =
  | "invalid_output"
  | "unparseable"
  | "provider_error"
  | "llm_not_configured"
  | "timeout";

export type Trigger = {
  mode?: RefreshMode;
  refresh_after_consolidation?: boolean;
  refresh_cron?: string | null;
  min_refresh_interval_seconds?: number | null;
  fact_types?: FactType[] | null;
  tags_match?: TagsMatch | null;
  tag_groups?: TagGroup[] | null;
  exclude_mental_models?: boolean;
  exclude_mental_model_ids?: string[] | null;
  include_chunks?: boolean | null;
  recall_max_tokens?: number | null;
  recall_chunks_max_tokens?: number | null;
  response_schema?: Json | null;
  keep_trace?: boolean;
  budget?: Budget | null;
  full_refresh_cron?: string | null;
  reflect_search_observations_max_tokens?: number | null;
  reflect_search_observations_include_entities?: boolean | null;
  delta_failure_policy?: DeltaFailurePolicy;
  delta_failure_limit?: number;
};

export type FieldWarning = {
  field: string;
  code: string;
  message: string;
};

export type RefreshMode = "full" | "delta";

export type DeltaFailurePolicy = "propose_full" | "fail";

export type TagsMatch = "any" | "all" | "any_strict" | "all_strict" | "exact";

export type Scope = {
  tags: string[] | null;
  tags_match: TagsMatch;
  tag_groups: TagGroup[] | null;
  fact_types: FactType[] | null;
  exclude_mental_models: boolean;
  exclude_mental_model_ids: string[];
};

export type Usage = {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cached_tokens: number;
  thoughts_tokens: number;
};

export type ToolCallRecord = {
  tool: string;
  reason: string | null;
  input: Json;
  output: Json | null;
  result_count: number;
  duration_ms: number;
  iteration: number;
  status: ToolCallStatus;
  guard: Guard | null;
  initiated_by: InitiatedBy;
};

export type LlmCallRecord = {
  scope: string;
  duration_ms: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  thoughts_tokens: number;
  wait_ms: number;
  first_token_ms: number | null;
  status: LlmCallStatus;
  iteration: number | null;
};

export type DirectiveRef = {
  id: string;
  name: string;
};

export type HeldBackDirective = {
  id: string;
  name: string;
  reason: HeldBackReason;
};

export type ResolvedTag = {
  tag: string;
  resolved: string[];
};

export type Warning = {
  code: string;
  message: string;
};

export type ExtractiveTrace = {
  state: ExtractiveState;
  confidence: number;
  memories_read: number;
};

export type Trace = {
  tool_calls?: ToolCallRecord[];
  llm_calls?: LlmCallRecord[];
  iterations?: number;
  max_iterations?: number;
  forced_sequence?: string[];
  released_at?: number | null;
  closed_by?: ClosedBy | null;
  dropped_citations?: string[];
  observations_accessed?: string[];
  resolved_scope?: ResolvedTag[];
  pending_consolidation?: number;
  memories_held_back?: number;
  directives?: DirectiveRef[];
  directives_held_back?: HeldBackDirective[];
  extractive?: ExtractiveTrace | null;
  warnings?: Warning[];
};

export type NumberedEvent = {
  seq: number;
  event: RunEvent;
};

export type ToolCallStatus = "ok" | "error" | "rejected" | "duplicate" | "skipped";

export type InitiatedBy = "model" | "engine";

export type LlmCallStatus = "ok" | "error";

export type ClosedBy = "done" | "iterations" | "text_stop" | "context";

export type HeldBackReason = "scope" | "inactive" | "extractive";

export type ExtractiveState = "found" | "nearest" | "nothing";

export type RunEvent =
  | { type: "run_started"; run_id: string; forced_sequence: string[]; max_iterations: number }
  | { type: "iteration_started"; i: number; n: number; forced: string | null }
  | { type: "llm_started"; scope: string }
  | { type: "llm_finished"; scope: string; tokens: Usage; status: LlmCallStatus }
  | { type: "tool_started"; tool: string; reason: string | null }
  | {
      type: "tool_finished";
      tool: string;
      reason: string | null;
      result_count: number;
      is_stale: boolean | null;
      status: ToolCallStatus;
    }
  | { type: "guard"; name: Guard }
  | { type: "closing"; by: ClosedBy }
  | { type: "answer_delta"; text: string }
  | { type: "structured_started" }
  | { type: "structured_finished"; error: string | null }
  | { type: "finished"; run_id: string }
  | { type: "failed"; run_id: string; reason: string; message: string; hint: string | null }
  | { type: "cancelled"; run_id: string };

export type Guard =
  | "no_evidence"
  | "stale_unverified"
  | "unsupported_negative"
  | "missing_argument"
  | "uncited_answer";

export type ProviderErrorClass = "context_overflow" | "rate_limited" | "auth" | "timeout" | "other";

export type FallbackReason =
  | "forced_full"
  | "no_baseline_content"
  | "source_query_changed"
  | "delta_wedged"
  | "delta_ops_failed"
  | "delta_ops_all_skipped";

export type Outcome =
  | "content_written"
  | "content_unchanged"
  | "content_preserved_no_new_facts"
  | "proposal_created"
  | "refresh_failed_empty_candidate"
  | "refresh_failed_delta_not_applied"
  | "refresh_failed_structured_output"
  | "refresh_failed_error"
  | "refresh_failed_conflict"
  | "cancelled";

export type FailureReason =
  | "empty_candidate"
  | "structured_doc_unreadable"
  | "delta_ops_failed"
  | "delta_ops_all_skipped"
  | "delta_not_applied"
  | "structured_output_failed"
  | "retrieval_failed"
  | "no_answer"
  | "document_changed"
  | "unexpected_error";

export type Citation = {
  id: string;
  text: string;
  kind: string;
  context: string | null;
  occurred_start: Instant | null;
  mentioned_at: Instant | null;
  first_cited_version: number | null;
};

export type PublishedEvidence = {
  text: string;
  basis: Basis;
  based_on: { [key: string]: Citation[] };
  outcome: Outcome;
  structured_output?: Json | null;
  structured_output_version?: number | null;
  delta_applied?: boolean;
  delta_operations_applied?: Json[];
  delta_operations_skipped?: Json[];
  delta_skipped_reason?: string | null;
  document_tokens?: number;
  document_budget?: number;
  trace?: Json | null;
};

export type CarryOver = {
  fact_id: string;
  since_version: number;
  attempts: number;
  why: CarryOverWhy;
};

export type Lock = {
  kind: LockKind;
  id: string;
};

export type Freshness = {
  is_stale: boolean;
  needs_refresh: boolean;
  refresh_reasons: RefreshReason[];
};

export type ModelView = {
  id: ModelId;
  bank_id: BankId;
  name: string;
  tags: string[];
  review: Review;
  version: number;
  placeholder: boolean;
  last_refreshed_at: Instant | null;
  last_memory_seen_at: Instant | null;
  last_refresh_failed_at: Instant | null;
  last_full_refreshed_at: Instant | null;
  created_at: Instant;
  is_stale: boolean;
  needs_refresh: boolean;
  refresh_reasons: RefreshReason[];
  open_proposal_id: ProposalId | null;
  source_query: string | null;
  content: string | null;
  max_tokens: number | null;
  trigger: Trigger | null;
  stated_keys: string[] | null;
  reflect_response: PublishedEvidence | null;
  last_run: LastRun | null;
  structure: Json | null;
  carry_over: CarryOver[] | null;
  guidance: Guidance[] | null;
};

export type Review = "auto" | "manual";

export type DetailLevel = "metadata" | "content" | "full";

export type Cause =
  | "manual_refresh"
  | "create"
  | "after_consolidation"
  | "after_deletion"
  | "cron"
  | "full_cron";

export type Actor =
  | "person"
  | "after_consolidation"
  | "after_deletion"
  | "cron"
  | "manual_refresh"
  | "import";

export type VersionCause =
  | "created"
  | "refresh_full"
  | "refresh_delta"
  | "retraction"
  | "proposal"
  | "edit"
  | "clear"
  | "revert"
  | "import";

export type CarryOverWhy = "op_skipped" | "truncated" | "uncovered" | "deferred";

export type Guidance =
  | { kind: "note"; text: string; at: Instant; proposal: ProposalId | null; standing: boolean }
  | {
      kind: "declined";
      fact_ids: string[];
      op_summary: string;
      note: string | null;
      at: Instant;
      fact_seqs: i64[];
    };

export type LockKind = "block" | "section";
export type Block = { id: string; text: string; gap: string };
export type Section = {
  id: string;
  heading: string;
  level: number;
  raw: string;
  gap: string;
  blocks: Block[];
};
export type Document = { format: number; lead: string; sections: Section[] };
export type TagGroup = JsonValue;
export type BasedOn = JsonValue;
export type Basis = JsonValue;
export type RefreshReason = JsonValue;
export type i64 = number;
export type TriggerPatch = Partial<Trigger>;
export type EvidenceSpan = { start: number; end: number; ids: string[] };
export type Channel<T> = { onmessage: (event: T) => void };

import { invoke } from "@tauri-apps/api/core";

const call = <T>(name: string, input: object): Promise<T> => invoke(name, { ...input });

export const commands = {
  pageDrawn: (): Promise<null> => call("page_drawn", {}),
  takeOpenedFiles: (): Promise<string[]> => call("take_opened_files", {}),
  thirdPartyNotices: (): Promise<string> => call("third_party_notices", {}),
  look: (): Promise<Look> => call("look", {}),
  setLook: (look: Look): Promise<Look> => call("set_look", { look }),
  openBank: (bank: BankId): Promise<null> => call("open_bank", { bank }),
  finishFirstRun: (): Promise<null> => call("finish_first_run", {}),
  dataFolder: (): Promise<DataFolder> => call("data_folder", {}),
  appStatus: (): Promise<AppStatus> => call("app_status", {}),
  paletteSearch: (bank: BankId, words: string): Promise<PaletteHit[]> =>
    call("palette_search", { bank, words }),
  reopen: (folder: string | null): Promise<AppStatus> => call("reopen", { folder }),
  listBanks: (): Promise<BankRow[]> => call("list_banks", {}),
  createBank: (input: NewBank): Promise<BankRow> => call("create_bank", { input }),
  deleteBank: (bank: BankId): Promise<null> => call("delete_bank", { bank }),
  listMemories: (bank: BankId, filter: MemoryFilter, after: string | null): Promise<MemoryPage> =>
    call("list_memories", { bank, filter, after }),
  getMemory: (bank: BankId, id: MemoryId): Promise<MemoryDetail> =>
    call("get_memory", { bank, id }),
  addMemory: (bank: BankId, fact: NewFact): Promise<MemoryRow> =>
    call("add_memory", { bank, fact }),
  editMemory: (bank: BankId, id: MemoryId, edit: EditFact): Promise<MemoryRow> =>
    call("edit_memory", { bank, id, edit }),
  invalidateMemory: (bank: BankId, id: MemoryId, reason: string | null): Promise<MemoryRow> =>
    call("invalidate_memory", { bank, id, reason }),
  restoreMemory: (bank: BankId, id: MemoryId): Promise<MemoryRow> =>
    call("restore_memory", { bank, id }),
  deleteMemory: (bank: BankId, id: MemoryId): Promise<null> => call("delete_memory", { bank, id }),
  retainText: (bank: BankId, input: RetainText): Promise<OperationId> =>
    call("retain_text", { bank, input }),
  planImport: (bank: BankId, input: ImportFiles): Promise<ImportPlan> =>
    call("plan_import", { bank, input }),
  importFiles: (bank: BankId, input: ImportFiles): Promise<OperationId> =>
    call("import_files", { bank, input }),
  listDocuments: (bank: BankId): Promise<DocumentRow[]> => call("list_documents", { bank }),
  recall: (bank: BankId, input: RecallInput): Promise<RecallView> =>
    call("recall", { bank, input }),
  listModels: (bank: BankId): Promise<ModelRow[]> => call("list_models", { bank }),
  getModel: (bank: BankId, id: ModelId): Promise<ModelDetail> => call("get_model", { bank, id }),
  createModel: (bank: BankId, input: NewModel): Promise<CreatedModel> =>
    call("create_model", { bank, input }),
  updateModel: (bank: BankId, id: ModelId, patch: ModelPatch): Promise<ModelDetail> =>
    call("update_model", { bank, id, patch }),
  deleteModel: (bank: BankId, id: ModelId): Promise<null> => call("delete_model", { bank, id }),
  refreshModel: (bank: BankId, id: ModelId, full: boolean): Promise<Submitted> =>
    call("refresh_model", { bank, id, full }),
  editModel: (
    bank: BankId,
    id: ModelId,
    content: string,
    expectedVersion: number,
  ): Promise<ModelDetail> => call("edit_model", { bank, id, content, expectedVersion }),
  clearModel: (bank: BankId, id: ModelId, expectedVersion: number): Promise<ModelDetail> =>
    call("clear_model", { bank, id, expectedVersion }),
  revertModel: (
    bank: BankId,
    id: ModelId,
    version: number,
    readAgain: boolean,
  ): Promise<ModelDetail> => call("revert_model", { bank, id, version, readAgain }),
  scopeReach: (bank: BankId, input: NewModel): Promise<ScopeReach> =>
    call("scope_reach", { bank, input }),
  listOperations: (bank: BankId): Promise<OperationRow[]> => call("list_operations", { bank }),
  cancelOperation: (bank: BankId, id: OperationId): Promise<OperationRow> =>
    call("cancel_operation", { bank, id }),
  retryOperation: (bank: BankId, id: OperationId): Promise<OperationRow> =>
    call("retry_operation", { bank, id }),
  listProposals: (bank: BankId): Promise<ProposalRow[]> => call("list_proposals", { bank }),
  getProposal: (bank: BankId, id: ProposalId): Promise<ProposalView> =>
    call("get_proposal", { bank, id }),
  previewProposal: (bank: BankId, id: ProposalId, of: PreviewOf): Promise<Preview> =>
    call("preview_proposal", { bank, id, of }),
  decideOps: (
    bank: BankId,
    id: ProposalId,
    input: DecideOps,
    stateSeq: number,
  ): Promise<ProposalView> => call("decide_ops", { bank, id, input, stateSeq }),
  setOpNote: (
    bank: BankId,
    id: ProposalId,
    opId: string,
    note: string | null,
    stateSeq: number,
  ): Promise<ProposalView> => call("set_op_note", { bank, id, opId, note, stateSeq }),
  editOp: (
    bank: BankId,
    id: ProposalId,
    opId: string,
    text: string | null,
    stateSeq: number,
  ): Promise<ProposalView> => call("edit_op", { bank, id, opId, text, stateSeq }),
  resolveConflict: (
    bank: BankId,
    id: ProposalId,
    opId: string,
    choice: ConflictChoice,
    stateSeq: number,
  ): Promise<ProposalView> => call("resolve_conflict", { bank, id, opId, choice, stateSeq }),
  approveProposal: (
    bank: BankId,
    id: ProposalId,
    input: ApproveInput,
    stateSeq: number,
  ): Promise<Published> => call("approve_proposal", { bank, id, input, stateSeq }),
  rejectProposal: (
    bank: BankId,
    id: ProposalId,
    input: RejectInput,
    stateSeq: number,
  ): Promise<ProposalView> => call("reject_proposal", { bank, id, input, stateSeq }),
  cancelReflect: (run: RunId): Promise<null> => call("cancel_reflect", { run }),
  listReflectRuns: (bank: BankId): Promise<ReflectRow[]> => call("list_reflect_runs", { bank }),
  getReflectRun: (bank: BankId, run: RunId): Promise<ReflectRunView> =>
    call("get_reflect_run", { bank, run }),
  sampleQuestions: (bank: BankId): Promise<string[]> => call("sample_questions", { bank }),
  ask: (bank: BankId, input: ReflectInput, events: Channel<RunEvent>): Promise<ReflectRunView> =>
    call("ask", { bank, input, events }),
  llmSettings: (): Promise<LlmSettings> => call("llm_settings", {}),
  discoverEndpoints: (): Promise<FoundServer[]> => call("discover_endpoints", {}),
  saveEndpoint: (input: SaveEndpoint): Promise<EndpointView> => call("save_endpoint", { input }),
  deleteEndpoint: (id: EndpointId): Promise<null> => call("delete_endpoint", { id }),
  chooseEndpoint: (id: EndpointId | null): Promise<LlmSettings> => call("choose_endpoint", { id }),
  checkEndpoint: (id: EndpointId): Promise<CheckReport> => call("check_endpoint", { id }),
  listLlms: (id: EndpointId): Promise<string[]> => call("list_llms", { id }),
  forgetLearnt: (id: EndpointId): Promise<null> => call("forget_learnt", { id }),
  setExtractive: (on: boolean): Promise<LlmSettings> => call("set_extractive", { on }),
  listVersions: (bank: BankId, id: ModelId): Promise<TimelineEntry[]> =>
    call("list_versions", { bank, id }),
  getVersion: (bank: BankId, id: ModelId, version: number): Promise<VersionView> =>
    call("get_version", { bank, id, version }),
  diffVersions: (bank: BankId, id: ModelId, from: number, to: number): Promise<VersionDiff> =>
    call("diff_versions", { bank, id, from, to }),
};

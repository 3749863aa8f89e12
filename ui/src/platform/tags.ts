/**
 * What each command shows or changes. A test compares this table with the commands of the bindings,
 * so a new command cannot be forgotten here.
 */

import type { CacheTag } from "./bindings";
import type { Commands } from "./index";

const reads = {
  thirdPartyNotices: [],
  appStatus: ["settings", "banks"],
  look: ["settings"],
  dataFolder: ["settings"],
  paletteSearch: ["models", "memories", "banks", "documents"],
  listBanks: ["banks", "memories", "documents", "models", "proposals"],
  listMemories: ["memories"],
  getMemory: ["memories", "models"],
  planImport: [],
  listDocuments: ["documents"],
  recall: ["memories"],
  listModels: ["models", "proposals"],
  getModel: ["models", "versions", "proposals"],
  scopeReach: ["memories"],
  nextRuns: [],
  checkSchema: [],
  listOperations: ["operations"],
  listProposals: ["proposals"],
  getProposal: ["proposals"],
  previewProposal: ["proposals"],
  listReflectRuns: ["runs"],
  getReflectRun: ["runs"],
  sampleQuestions: ["memories"],
  llmSettings: ["settings", "endpoints"],
  discoverEndpoints: [],
  listLlms: [],
  listVersions: ["versions", "proposals"],
  getVersion: ["versions"],
  diffVersions: ["versions"],
} as const satisfies Partial<Record<keyof Commands, readonly CacheTag[]>>;

const writes = {
  pageDrawn: [],
  takeOpenedFiles: [],
  setLook: ["settings"],
  openBank: ["settings"],
  finishFirstRun: ["settings"],
  reopen: ["settings", "banks"],
  createBank: ["banks"],
  deleteBank: ["banks", "settings"],
  addMemory: ["memories", "models", "banks"],
  editMemory: ["memories", "models"],
  invalidateMemory: ["memories", "models", "banks"],
  restoreMemory: ["memories", "models", "banks"],
  deleteMemory: ["memories", "models", "banks"],
  retainText: ["operations"],
  importFiles: ["operations"],
  trySchema: [],
  createModel: ["models", "operations", "banks"],
  updateModel: ["models"],
  deleteModel: ["models", "versions", "proposals", "banks"],
  refreshModel: ["operations", "models"],
  editModel: ["models", "versions", "proposals"],
  clearModel: ["models", "versions", "proposals"],
  revertModel: ["models", "versions", "proposals"],
  cancelOperation: ["operations", "models"],
  retryOperation: ["operations", "models"],
  decideOps: ["proposals"],
  setOpNote: ["proposals"],
  editOp: ["proposals"],
  resolveConflict: ["proposals"],
  approveProposal: ["proposals", "models", "versions", "banks"],
  rejectProposal: ["proposals", "models", "versions", "banks"],
  cancelReflect: ["runs"],
  ask: ["runs"],
  saveEndpoint: ["settings", "endpoints"],
  deleteEndpoint: ["settings", "endpoints"],
  chooseEndpoint: ["settings", "endpoints"],
  checkEndpoint: ["settings", "endpoints"],
  forgetLearnt: ["settings", "endpoints"],
  setExtractive: ["settings"],
} as const satisfies Partial<Record<keyof Commands, readonly CacheTag[]>>;

export type ReadName = keyof typeof reads;
export type WriteName = keyof typeof writes;

export const READS: Record<ReadName, readonly CacheTag[]> = reads;
export const WRITES: Record<WriteName, readonly CacheTag[]> = writes;

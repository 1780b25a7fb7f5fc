import { createHash } from "node:crypto";
import type { TaskLimits } from "../../../limits.js";
import { APPEND, RENEW } from "./append.js";
import { CREATE, STORE_ENDED, WITHDRAW } from "./create.js";
import { EVICT, REQUEST_CANCEL, TAKE_OVER } from "./leases.js";
import { KEEP_SNAPSHOT, LIST, READ, SNAPSHOT } from "./read.js";
import { ADD_RECORD, COUNT_RECORD, DELETE_RECORD, GET_RECORD, LIST_RECORDS, PUT_RECORD } from "./records.js";
import { ADD_REPLAY } from "./replays.js";
import { ENQUEUE_MESSAGE, NEXT_TURN, RESUME } from "./turns.js";
import { DELETE_PUSH, DUE_PUSH, PUSHES, RECORD_PUSH, SET_PUSH } from "./webhooks.js";

/**
 * Moves or removes hints, unless they were rewritten since they were read. Keys: the index. Arguments, for each: hint, the
 * score it was read with, its new score or "".
 */
const SETTLE_HINTS = `
local index = KEYS[1]
for i = 1, #ARGV, 3 do
  local hint, read, next = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local time = redis.call('ZSCORE', index, hint)
  if time and tonumber(time) == tonumber(read) then
    if next == '' then redis.call('ZREM', index, hint) else redis.call('ZADD', index, next, hint) end
  end
end
return 1
`;

const SOURCES = {
  addRecord: ADD_RECORD,
  addReplay: ADD_REPLAY,
  append: APPEND,
  countRecord: COUNT_RECORD,
  create: CREATE,
  deletePush: DELETE_PUSH,
  deleteRecord: DELETE_RECORD,
  duePush: DUE_PUSH,
  evict: EVICT,
  getRecord: GET_RECORD,
  enqueue: ENQUEUE_MESSAGE,
  keepSnapshot: KEEP_SNAPSHOT,
  list: LIST,
  listRecords: LIST_RECORDS,
  nextTurn: NEXT_TURN,
  pushes: PUSHES,
  putRecord: PUT_RECORD,
  read: READ,
  renew: RENEW,
  requestCancel: REQUEST_CANCEL,
  resume: RESUME,
  setPush: SET_PUSH,
  settleHints: SETTLE_HINTS,
  snapshot: SNAPSHOT,
  storeEnded: STORE_ENDED,
  takeOver: TAKE_OVER,
  recordPush: RECORD_PUSH,
  withdraw: WITHDRAW,
} as const;

export type ScriptName = keyof typeof SOURCES;

/** A script by the digest of its text, as Redis knows it. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}
export type ScriptSet = Readonly<Record<ScriptName, Script>>;

/** What the scripts know from the start, beside the task limits. */
export interface ScriptSettings {
  readonly prefix: string;
  readonly limits: TaskLimits;
  /** How long Redis keeps the keys of a finished task. */
  readonly expireMs: number;
}

/** Check interval of an idle webhook, in case the hint of an entry was lost. */
const IDLE_LOOK_MS = 30_000;
/** When an owner's storage is full, this share of its tasks is evicted at once. */
const EVICTED_PART = 100;
/** Evicted in one go at most. */
const EVICTED_MOST = 200;
/** It is evicted when there is still room for so much of it, so that new tasks seldom wait for it. */
const EVICTED_EARLY = 0.5;

/** As milliseconds, three centuries. */
const UNREACHED = 1e13;

/** The scripts of a store. Its limits are written into them: they never change, and so they are not sent each time. */
export function scriptSet({ prefix, limits, expireMs }: ScriptSettings): ScriptSet {
  const { keptTasks, keptTasksMs, journalEntries, journalBytes, inputsPerTask } = limits;
  const evictedAtOnce = Math.min(EVICTED_MOST, Math.max(1, whole(keptTasks / EVICTED_PART)));
  const settings = `
local PREFIX = '${prefix}'
local KEPT_TASKS, KEPT_TASKS_MS, EXPIRE_MS = ${whole(keptTasks)}, ${whole(keptTasksMs)}, '${whole(expireMs)}'
local JOURNAL_ENTRIES, JOURNAL_BYTES, INPUTS_PER_TASK = ${whole(journalEntries)}, ${whole(journalBytes)}, ${whole(inputsPerTask)}
local KEYS_PER_OWNER, PUSH_CONFIGS = ${whole(limits.idempotencyKeysPerOwner)}, ${whole(limits.pushConfigsPerTask)}
local KEPT_RECORDS, KEPT_RECORD_BYTES = ${whole(limits.keptRecords)}, ${whole(limits.keptRecordBytes)}
local IDLE_LOOK_MS = ${IDLE_LOOK_MS}
local EVICTED_AT_ONCE, EVICTED_AHEAD = ${evictedAtOnce}, ${whole(evictedAtOnce * EVICTED_EARLY)}
`;
  const made = Object.entries(SOURCES).map(([name, source]) => {
    const lua = settings + source;
    return [name, { lua, sha: createHash("sha1").update(lua).digest("hex") }];
  });
  // Made from the very names of SOURCES.
  return Object.fromEntries(made) as ScriptSet;
}

/** A limit as a number for scripts: no limit becomes one that is never reached. */
function whole(limit: number): number {
  return Math.floor(Math.min(limit, UNREACHED));
}

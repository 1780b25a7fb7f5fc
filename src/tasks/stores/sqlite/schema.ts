/** The application id of the file: "Koin" in the header of the database. */
export const APPLICATION_ID = 0x4b_6f_69_6e;

/**
 * A row of `tasks` holds what every step reads and is small, because it is rewritten with every entry. Long values have
 * their own tables. `rest` numbers the idle tasks in the order they became idle.
 */
const FIRST = `
CREATE TABLE tasks (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  context TEXT NOT NULL,
  key TEXT,
  state TEXT NOT NULL,
  status_at INTEGER NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0,
  seq INTEGER NOT NULL DEFAULT 1,
  bytes INTEGER NOT NULL,
  turn INTEGER NOT NULL DEFAULT 1,
  epoch INTEGER NOT NULL DEFAULT 1,
  holder TEXT,
  lease_until INTEGER NOT NULL,
  cancel INTEGER NOT NULL DEFAULT 0,
  heard INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  pushes INTEGER NOT NULL DEFAULT 0,
  snapshot_seq INTEGER NOT NULL DEFAULT 0,
  snapshot_next INTEGER NOT NULL DEFAULT 0,
  rest INTEGER
);
CREATE INDEX tasks_listed ON tasks (owner, status_at DESC, id, closed, state, context, key);
CREATE INDEX tasks_held ON tasks (lease_until) WHERE holder IS NOT NULL;
CREATE INDEX tasks_resting ON tasks (closed, rest) WHERE rest IS NOT NULL;
CREATE INDEX tasks_to_cancel ON tasks (holder) WHERE cancel = 1 AND holder IS NOT NULL;

CREATE TABLE journal (
  task INTEGER NOT NULL,
  first INTEGER NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (task, first)
) WITHOUT ROWID;

CREATE TABLE heard (
  task INTEGER NOT NULL,
  n INTEGER NOT NULL,
  after INTEGER NOT NULL,
  key TEXT,
  waits INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (task, n)
) WITHOUT ROWID;
CREATE INDEX heard_keys ON heard (task, key) WHERE key IS NOT NULL;

CREATE TABLE saved (task INTEGER PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE snapshots (
  task INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  heard INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (task, seq)
) WITHOUT ROWID;

CREATE TABLE pushes (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL,
  id TEXT NOT NULL,
  config TEXT NOT NULL,
  seq INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL DEFAULT 0,
  gave_up INTEGER NOT NULL DEFAULT 0,
  problem TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  held_until INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0,
  UNIQUE (task, id)
);
CREATE INDEX pushes_due ON pushes (max(due, held_until)) WHERE pending = 1;

CREATE TABLE keys (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  task_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (owner, agent, key)
) WITHOUT ROWID;
CREATE INDEX keys_ending ON keys (until);
CREATE TABLE key_owners (owner TEXT PRIMARY KEY, kept INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE totals (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  tasks INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  keys INTEGER NOT NULL,
  rests INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0, 0, 0);
`;

/** Keys are in an order that bytes have too; a record without an end stays. Small rows in the index, long values at the end. */
const RECORDS = `
CREATE TABLE records (key TEXT NOT NULL PRIMARY KEY, until INTEGER, bytes INTEGER NOT NULL, value TEXT NOT NULL);
CREATE INDEX records_ending ON records (until) WHERE until IS NOT NULL;
ALTER TABLE totals ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;
`;

/** Nonces of signed messages. */
const REPLAYS = `
CREATE TABLE replays (signer TEXT NOT NULL, nonce TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (signer, nonce)) WITHOUT ROWID;
CREATE INDEX replays_ending ON replays (until);
CREATE TABLE replay_signers (signer TEXT PRIMARY KEY, kept INTEGER NOT NULL) WITHOUT ROWID;
ALTER TABLE totals ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
`;

/** Says that the content of the tasks is sealed, by which key. */
const SEAL = `
CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), mark TEXT NOT NULL);
`;

/**
 * Entries by one number, made of the task's and the entry's: such rows are not cut into pages of their own below 4 KB, and one more is
 * written at the end of what is there.
 */
const ENTRIES = `
CREATE TABLE entries (
  at INTEGER PRIMARY KEY,
  events TEXT NOT NULL,
  task INTEGER AS (at >> 20) VIRTUAL,
  first INTEGER AS (at & 1048575) VIRTUAL
);
INSERT INTO entries (at, events) SELECT (task << 20) | first, events FROM journal ORDER BY task, first;
DROP TABLE journal;
ALTER TABLE entries RENAME TO journal;
`;

/** Read backwards, newest first: so a new status is added behind the others of its owner, where a page has room. */
const LISTED = `
DROP INDEX tasks_listed;
CREATE INDEX tasks_listed ON tasks (owner, status_at, id DESC, closed, state, context, key);
`;

/** Nothing changes in the file: from here on, entries have no ids of their task and session, without which earlier versions cannot read. */
const SHORT_ENTRIES = "";

/** Each brings a file one version further; the number of those that were made is the file's version. Never changed, only added to. */
export const MIGRATIONS: readonly string[] = [FIRST, RECORDS, REPLAYS, SEAL, ENTRIES, LISTED, SHORT_ENTRIES];

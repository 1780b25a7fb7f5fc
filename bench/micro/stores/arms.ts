/** One store as it is measured: which, and with which promise on disk. */
export interface StoreArm {
  readonly name: string;
  readonly kind: "memory" | "sqlite" | "redis";
  /** SQLite's `synchronous`, or Redis' `appendfsync`. */
  readonly promise: "none" | "normal" | "full" | "everysec" | "always";
}

export const STORE_ARMS = [
  { name: "memory", kind: "memory", promise: "none" },
  { name: "memory again", kind: "memory", promise: "none" },
  { name: "sqlite normal", kind: "sqlite", promise: "normal" },
  { name: "sqlite full", kind: "sqlite", promise: "full" },
  { name: "redis everysec", kind: "redis", promise: "everysec" },
  { name: "redis always", kind: "redis", promise: "always" },
] as const satisfies readonly StoreArm[];

/** The parameters of a store server. */
export interface StartStoreServer {
  readonly arm: StoreArm;
  /** Its own folder, for SQLite. */
  readonly folder: string;
  readonly redisUrl?: string;
}

/** Sends in flight. */
export const IN_FLIGHT = 64;
/** Events of the resumed tasks, and how many of them were received before. */
export const RESUME_EVENTS = 20;
export const RESUME_SEEN = 10;

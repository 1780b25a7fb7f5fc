/** Every wait and every count of a running network. */
export interface UpLimits {
  /** From its start until a module answers its first ping, unless the plan says otherwise. */
  readonly readyMs: number;
  /** Between two looks at a module that is not ready yet, and at one that is. */
  readonly pollMs: number;
  readonly pingEveryMs: number;
  /** How long one ping may take. */
  readonly pingMs: number;
  /** So many pings in a row without an answer, and the process is taken for hung and started anew. */
  readonly hungPings: number;
  /** The first pause before a restart; each further one is twice as long, up to the longest. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  /** A module that was ready for so long begins with the first pause again. */
  readonly steadyMs: number;
  /** One more than this within a minute, and a module is given up until somebody restarts it. */
  readonly restartsPerMinute: number;
  /** From the request to end until the process is ended. */
  readonly drainMs: number;
  /** Of one line of a module's output; the rest of it is dropped. */
  readonly lineCharacters: number;
}

export const UP_LIMITS: UpLimits = {
  readyMs: 20_000,
  pollMs: 100,
  pingEveryMs: 2_000,
  pingMs: 2_000,
  hungPings: 5,
  backoffMs: 200,
  longestBackoffMs: 10_000,
  steadyMs: 30_000,
  restartsPerMinute: 5,
  drainMs: 10_000,
  lineCharacters: 4_096,
};

/** Identity and time, injected: everything that needs an id or the time of day takes it from here. */
export interface IdSource {
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
}

// Bound once: the global is an accessor, and reading it for every id costs as much as making the id.
const newId = crypto.randomUUID.bind(crypto);

/** The system's clock, and random UUIDs. */
export const systemIds: IdSource = { now: () => Date.now(), newId };

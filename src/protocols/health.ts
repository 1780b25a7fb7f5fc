import type { Awaitable } from "../envelope/index.js";

/** `unavailable`: calls would fail, so they should go to another process. */
export type HealthStatus = "ok" | "unavailable";

/** The state of a host. */
export interface Health {
  /** Whether its agents can answer. */
  status(): Awaitable<HealthStatus>;
  /** Whether it takes calls at all. Does not ask the agents: peers that ping each other would wait in a circle. */
  takesCalls(): Awaitable<HealthStatus>;
}

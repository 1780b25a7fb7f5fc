/** Selects among feasible protocols by the outcomes of earlier calls. Off by default. */
export { type Bandit, type BanditOptions, createBandit, type LinkBandit } from "./bandit.js";
export { contextKey, type LinkKind } from "./context-key.js";
export { BUDGET_MS, type Outcome } from "./outcome.js";
export { FADING, type Fading } from "./posterior.js";
export type { ProblemSink } from "./report-once.js";

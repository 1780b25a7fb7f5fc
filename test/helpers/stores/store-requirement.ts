import type { TaskLimits } from "../../../src/tasks/limits.js";
import type { Store } from "../../../src/tasks/store.js";

/** A store with a clock that the suite advances. */
export interface StoreUnderTest {
  readonly store: Store;
  advance(ms: number): void;
}
/** Creates a fresh store for one requirement; its time starts at 1,000. */
export type MakeStore = (limits: Partial<TaskLimits>) => StoreUnderTest | Promise<StoreUnderTest>;

/** One requirement of a store. */
export interface StoreRequirement {
  readonly name: string;
  check(makeStore: MakeStore): Promise<void>;
}

import type { TaskLimits } from "../../../src/tasks/limits.js";
import type { Store } from "../../../src/tasks/store.js";

/** A store on time that the suite moves. */
export interface StoreUnderTest {
  readonly store: Store;
  advance(ms: number): void;
}
/** Makes a fresh store for one requirement; its time begins at 1,000. */
export type MakeStore = (limits: Partial<TaskLimits>) => StoreUnderTest | Promise<StoreUnderTest>;

/** One thing a store must do. */
export interface StoreRequirement {
  readonly name: string;
  check(makeStore: MakeStore): Promise<void>;
}

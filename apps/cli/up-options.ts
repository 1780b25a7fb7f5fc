import type { Format } from "./output.js";

/** What `koine up` is told. */
export interface UpOptions {
  readonly output: Format;
  readonly check?: boolean;
}

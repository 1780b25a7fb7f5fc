import type { Format } from "./output.js";

/** What `koine demo` is told. */
export interface DemoCommandOptions {
  readonly output: Format;
  readonly port: number;
  readonly check?: boolean;
  /** False for `--no-open`. */
  readonly open: boolean;
}

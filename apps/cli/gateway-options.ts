import type { Format } from "./output.js";

export interface GatewayOptions {
  readonly output: Format;
  readonly check?: boolean;
  readonly connect?: boolean;
  readonly requireUpstreams?: boolean;
  /** False for `--no-watch`. */
  readonly watch: boolean;
}

import type { ModelOptions } from "./model-options.js";
import type { Format } from "./output.js";

/** What `koine route` is told. */
export interface RouteOptions extends ModelOptions {
  readonly output: Format;
  readonly text?: string;
  readonly requires?: string;
  readonly explain?: boolean;
  readonly candidates?: string;
  readonly priority?: string;
  readonly ranking?: string;
  readonly scope: "module" | "scenario";
  readonly abstain: string;
  readonly embeddings?: boolean;
  readonly without?: string;
  readonly skipMalformed?: boolean;
  readonly schema?: boolean;
  readonly capabilities?: boolean;
}

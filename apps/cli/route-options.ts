import type { ModelOptions } from "./model-options.js";
import type { Format } from "./output.js";

/** How `koine route` is to choose. */
export interface SettingOptions extends ModelOptions {
  readonly candidates?: string;
  readonly priority?: string;
  readonly ranking?: string;
  readonly scope: "module" | "scenario";
  readonly abstain: string;
  readonly embeddings?: boolean;
  readonly without?: string;
}

/** What `koine route` is told. */
export interface RouteOptions extends SettingOptions {
  readonly output: Format;
  readonly text?: string;
  readonly requires?: string;
  readonly explain?: boolean;
  readonly skipMalformed?: boolean;
  readonly schema?: boolean;
  readonly capabilities?: boolean;
}

import type { IdentityOptions } from "./identity.js";
import type { ModelOptions } from "./model-options.js";
import type { Format } from "./output.js";
import type { StoreOptions } from "./serve-store.js";
import type { TlsFiles } from "./serve-tls.js";

export interface ServeCommandOptions extends StoreOptions, TlsFiles, IdentityOptions, ModelOptions {
  readonly output: Format;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly openToEverybody?: boolean;
  readonly publicUrl?: string;
  readonly name?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly artifacts?: string;
  readonly metrics?: "loopback" | "admitted" | true;
  readonly set?: ReadonlyMap<string, string>;
  readonly try?: boolean;
  readonly cardKey?: readonly string[];
  /** False for `--no-push`. */
  readonly push: boolean;
  readonly pushAllow?: readonly string[];
}

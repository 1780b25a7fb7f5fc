import type { CardPolicy } from "../../src/index.js";
import type { CredentialOptions } from "./credentials.js";
import type { IdentityCredentialOptions } from "./identity-credentials.js";
import type { Format } from "./output.js";

export interface BridgeCommandOptions extends CredentialOptions, IdentityCredentialOptions {
  readonly output: Format;
  readonly as?: readonly string[];
  readonly name?: string;
  readonly mode?: "adopt" | "relay";
  readonly strict?: boolean;
  readonly card?: CardPolicy;
  readonly pin?: string;
  readonly port: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly tokenFile?: string;
  readonly openToEverybody?: boolean;
  readonly data?: string;
  readonly durable?: "process" | "power";
  readonly store?: string;
  readonly secretFile?: string;
  readonly cardKey?: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
  readonly losses?: boolean;
  /** False for `--no-page`. */
  readonly page: boolean;
}

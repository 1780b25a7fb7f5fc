import type { JsonObject, Maybe, Records } from "../envelope/index.js";

/** What a command prints: as text, and as JSON. */
export interface CommandOutput {
  readonly text: string;
  readonly document: JsonObject | readonly JsonObject[];
}

/** The services available to a protocol's command. */
export interface CommandTools {
  /** The protocol's records in the store of a server. */
  readonly records: Records;
  /** Whether there is a store; for commands whose store is optional. */
  readonly hasStore: boolean;
  /** The given options by their name in camel case: `--chain-id` is `chainId`. */
  readonly options: { readonly [name: string]: Maybe<string> };
  readFile(path: string): Promise<Uint8Array>;
  /** For a command that runs until it is stopped: prints what there is to know, and waits for Ctrl-C. */
  untilStopped(ready: CommandOutput): Promise<void>;
}

/** An option of a command; each has a value. */
export interface CommandOption {
  /** As commander writes it: `--rpc <url>`. */
  readonly flags: string;
  readonly about: string;
  readonly default?: Maybe<string>;
}

/** A command that a protocol adds to the command line: `koine <protocol> <words>`. */
export interface ProtocolCommand {
  /** The words of the command, such as `protocol add`. */
  readonly words: string;
  readonly summary: string;
  /** The positional arguments. `many` accepts all remaining arguments. */
  readonly arguments: readonly { readonly name: string; readonly about: string; readonly many?: Maybe<boolean> }[];
  readonly options?: Maybe<readonly CommandOption[]>;
  /** Whether the command needs the store of a server. Default: required. */
  readonly store?: Maybe<"required" | "optional" | "none">;
  /** The command does not modify the store. */
  readonly readOnly?: Maybe<boolean>;
  /** Example invocations for the help text, one line each. */
  readonly examples: readonly string[];
  /** Returns what is printed; undefined if all was printed before. Throws AgentError. */
  run(args: readonly string[], tools: CommandTools): Promise<Maybe<CommandOutput>>;
}

/** The description of a setting, for help texts and for parsing values given as text. */
export interface SettingInfo {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean";
  /** An example value. */
  readonly example: string;
  /** A one-line description, with the default. */
  readonly about: string;
  /** It names the DID that a called agent must prove: only then is an agent that is called by its URL known to be the one that is meant. */
  readonly namesPeer?: Maybe<true>;
}

/** An example request, for people to run by hand. */
export interface SampleCall {
  /** The interface that the request is for. Undefined: a well-known path of the host itself. */
  readonly wire: Maybe<{ readonly version: string; readonly binding: string }>;
  readonly about: string;
  /** Appended to the URL of the interface or of the host. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

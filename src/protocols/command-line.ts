import type { JsonObject, Maybe, Records } from "../envelope/index.js";

/** The services available to a protocol's command. */
export interface CommandTools {
  /** The protocol's records in the store of a server. */
  readonly records: Records;
  readFile(path: string): Promise<Uint8Array>;
}

/** A command that a protocol adds to the command line: `koine <protocol> <words>`. */
export interface ProtocolCommand {
  /** The words of the command, such as `protocol add`. */
  readonly words: string;
  readonly summary: string;
  /** The positional arguments. `many` accepts all remaining arguments. */
  readonly arguments: readonly { readonly name: string; readonly about: string; readonly many?: Maybe<boolean> }[];
  /** The command needs no store. */
  readonly storeless?: Maybe<boolean>;
  /** The command does not modify the store. */
  readonly readOnly?: Maybe<boolean>;
  /** Example invocations for the help text, one line each. */
  readonly examples: readonly string[];
  /** Returns the output as text and as JSON. Throws AgentError. */
  run(
    args: readonly string[],
    tools: CommandTools,
  ): Promise<{ readonly text: string; readonly document: JsonObject | readonly JsonObject[] }>;
}

/** The description of a setting, for help texts and for parsing values given as text. */
export interface SettingInfo {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean";
  /** An example value. */
  readonly example: string;
  /** A one-line description, with the default. */
  readonly about: string;
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

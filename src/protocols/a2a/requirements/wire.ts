import type { JsonObject, Maybe } from "../../../envelope/index.js";
import type { Ask, Got, Opened } from "../../ask.js";
import type { OperationName } from "../operations.js";
import type { ListedInterface } from "./card-view.js";
import type { Form } from "./forms.js";
import type { SeenError } from "./wire-errors.js";

/** What came back: a result or an error, and the bytes it was read from. */
export interface Answer {
  readonly got: Got;
  readonly result: unknown;
  readonly error: Maybe<SeenError>;
}

/** What came back where a stream was asked for. */
export interface Streaming {
  /** Set where the answer is not a stream. */
  readonly plain: Maybe<Answer>;
  /** The results as they come. An error among them throws. */
  readonly results: AsyncGenerator<unknown>;
}

/** The bindings whose messages are JSON text. */
export const JSON_BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

/** One binding of one version, seen from outside: how a request is written and an answer is read. */
export interface Wire {
  readonly version: "1.0" | "0.3";
  readonly binding: "JSONRPC" | "HTTP+JSON" | "GRPC";
  /** The middle of a requirement's id. */
  readonly name: string;
  readonly form: Form;
  /** The URL behind an address of the card, where it is not one by itself. Undefined where it leads nowhere. */
  locate?(listed: string, base: string): Maybe<string>;
  /** Params have the names of 1.0; undefined where this wire has no such operation. */
  write(at: ListedInterface, operation: OperationName, params: JsonObject, id: string): Maybe<Ask>;
  read(got: Got, id: Maybe<string>, operation: OperationName): Answer;
  listen(opened: Opened, id: string, operation: OperationName): Promise<Streaming>;
}

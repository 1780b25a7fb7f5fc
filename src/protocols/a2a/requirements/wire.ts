import type { JsonObject, Maybe } from "../../../envelope/index.js";
import type { OpenResponse, RawRequest, RawResponse } from "../../ask.js";
import type { OperationName } from "../operations.js";
import type { ListedInterface } from "./card-view.js";
import type { Form } from "./forms.js";
import type { ObservedError } from "./wire-errors.js";

/** A response: a result or an error, and its bytes. */
export interface Answer {
  readonly got: RawResponse;
  readonly result: unknown;
  readonly error: Maybe<ObservedError>;
}

/** The response to a streaming operation. */
export interface Streaming {
  /** Set if the response is not a stream. */
  readonly plain: Maybe<Answer>;
  /** The results. An error among them throws. */
  readonly results: AsyncGenerator<unknown>;
}

/** The bindings whose messages are JSON text. */
export const JSON_BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

/** One binding of one version, for checks: how requests are written and responses read. */
export interface Wire {
  readonly version: "1.0" | "0.3";
  readonly binding: "JSONRPC" | "HTTP+JSON" | "GRPC";
  /** The middle part of requirement ids. */
  readonly name: string;
  readonly form: Form;
  /** The URL for an address of the card, if it is not a URL itself. Undefined if invalid. */
  locate?(listed: string, base: string): Maybe<string>;
  /** Params have 1.0 names; undefined if this binding has no such operation. */
  write(at: ListedInterface, operation: OperationName, params: JsonObject, id: string): Maybe<RawRequest>;
  read(got: RawResponse, id: Maybe<string>, operation: OperationName): Answer;
  listen(opened: OpenResponse, id: string, operation: OperationName): Promise<Streaming>;
}

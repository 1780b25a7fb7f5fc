import type { Cancel, JsonObject, Maybe } from "../../envelope/index.js";

/** One message of the conversation. Text of peers belongs in `content`, never in the request's `system`. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls?: Maybe<readonly FunctionCall[]> }
  /** The result of a function the model called. */
  | { readonly role: "tool"; readonly content: string; readonly callId: string };

/** A request to a model. */
export interface ModelRequest {
  /** The instructions: trusted text only. */
  readonly system?: Maybe<string>;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens?: Maybe<number>;
  /** Nucleus sampling. Default: the server's. */
  readonly topP?: Maybe<number>;
}

/** A function a model may call; the parameters are a JSON Schema. */
export interface ModelFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A request whose answer may or must be a function call. */
export interface FunctionRequest extends ModelRequest {
  readonly tools: readonly ModelFunction[];
  /** `required`: any of them; a name: that one. Default `auto`. */
  readonly toolChoice?: Maybe<"auto" | "none" | "required" | { readonly name: string }>;
}

/** One function call with its arguments, which are not validated against the schema. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The answer of a language model: text, function calls or both. */
export interface ModelAnswer {
  /** Empty if the model only calls functions. */
  readonly text: string;
  readonly calls: readonly FunctionCall[];
}

/** The interface of a language model: text in, text out. Fails with AgentError; never retries. */
export interface LanguageModel {
  complete(request: ModelRequest, cancel: Cancel): Promise<string>;
}

/** A language model that can call functions. */
export interface FunctionCallingModel extends LanguageModel {
  choose(request: FunctionRequest, cancel: Cancel): Promise<ModelAnswer>;
}

import type { Cancel, JsonObject, Maybe } from "../../envelope/index.js";

/** What was said so far. What a peer wrote belongs into `content`, never into the request's `system`. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls?: Maybe<readonly FunctionCall[]> }
  /** What a function that the model called has given back. */
  | { readonly role: "tool"; readonly content: string; readonly callId: string };

/** What a model is asked. */
export interface ModelRequest {
  /** What it is to do, in our own words only. */
  readonly system?: Maybe<string>;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens?: Maybe<number>;
}

/** A function a model may call; the parameters are a JSON Schema. */
export interface ModelFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A request whose answer may be, or must be, the call of a function. */
export interface FunctionRequest extends ModelRequest {
  readonly tools: readonly ModelFunction[];
  /** `required`: any of them; a name: that one. Default `auto`. */
  readonly toolChoice?: Maybe<"auto" | "none" | "required" | { readonly name: string }>;
}

/** One call of a function, with its arguments as an object. They fit the schema only as far as the model keeps to it. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface ModelAnswer {
  /** Empty where the model only calls. */
  readonly text: string;
  readonly calls: readonly FunctionCall[];
}

/** Words in, words out: the port behind which every language model stands. Fails with AgentError; never tries again. */
export interface LanguageModel {
  complete(request: ModelRequest, cancel: Cancel): Promise<string>;
}

/** A model that can also be made to call functions. */
export interface FunctionCallingModel extends LanguageModel {
  choose(request: FunctionRequest, cancel: Cancel): Promise<ModelAnswer>;
}

import { isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject, readString, readText } from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { FunctionCall, FunctionRequest, ModelAnswer, ModelFunction, ModelMessage, ModelRequest } from "./language-model.js";

/** The request and response of `POST {baseUrl}/chat/completions`. */

/** A request may carry functions or not; one writer serves both. */
export type AnyRequest = ModelRequest & Partial<Pick<FunctionRequest, "tools" | "toolChoice">>;

/** How a server draws its answer. */
export interface Sampling {
  readonly temperature?: Maybe<number>;
  readonly seed?: Maybe<number>;
}

/** Temperature 0 unless it is given, and no stream: answers should be reproducible and complete. */
export function writeCompletion(model: string, request: AnyRequest, { temperature = 0, seed }: Sampling = {}): JsonObject {
  const { system, messages, maxTokens, topP, tools, toolChoice } = request;
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  return {
    model,
    messages: [...first, ...messages.map(writeMessage)],
    temperature,
    stream: false,
    ...(seed === undefined ? undefined : { seed }),
    ...(topP === undefined ? undefined : { top_p: topP }),
    ...(maxTokens === undefined ? undefined : { max_tokens: maxTokens }),
    ...(tools === undefined ? undefined : { tools: tools.map(writeFunction), tool_choice: writeChoice(toolChoice) }),
  };
}

function writeMessage(message: ModelMessage): JsonObject {
  if (message.role === "tool") return { role: "tool", content: message.content, tool_call_id: message.callId };
  const { role, content } = message;
  const calls = message.role === "assistant" ? (message.calls ?? []) : [];
  return calls.length === 0 ? { role, content } : { role, content, tool_calls: calls.map(writeCall) };
}

function writeCall({ id, name, arguments: given }: FunctionCall): JsonObject {
  return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
}

function writeFunction({ name, description, parameters }: ModelFunction): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}

function writeChoice(choice: FunctionRequest["toolChoice"]): JsonObject[string] {
  return typeof choice === "object" ? { type: "function", function: { name: choice.name } } : (choice ?? "auto");
}

/** The first choice of an answer. Throws DecodeProblem for an empty or truncated one. */
export function readCompletion(document: unknown): ModelAnswer {
  const choices = readArray(readObject(document, "answer")["choices"], "choices", readObject);
  const [choice] = choices;
  if (choice === undefined) throw new DecodeProblem("choices", "is empty");
  if (choice["finish_reason"] === "length") throw new DecodeProblem("choices[0]", "was broken off at the limit of tokens");
  const message = readObject(choice["message"], "choices[0].message");
  const text = optional(message["content"], "choices[0].message.content", readString) ?? "";
  const calls = optional(message["tool_calls"], "choices[0].message.tool_calls", readCalls) ?? [];
  if (text === "" && calls.length === 0) throw new DecodeProblem("choices[0].message", "says nothing");
  return { text, calls };
}

function readCalls(value: unknown, path: string): readonly FunctionCall[] {
  return readArray(value, path, (item, at) => {
    const call = readObject(item, at);
    const called = readObject(call["function"], `${at}.function`);
    return {
      id: optional(call["id"], `${at}.id`, readString) ?? "",
      name: readText(called["name"], `${at}.function.name`),
      arguments: readArguments(called["arguments"], `${at}.function.arguments`),
    };
  });
}

/** JSON inside a string; some servers send the object itself. */
function readArguments(value: unknown, path: string): JsonObject {
  const parsed = typeof value === "string" ? parse(value) : value;
  if (isObject(parsed)) return parsed;
  throw new DecodeProblem(path, "must be a JSON object");
}

function parse(text: string): unknown {
  try {
    return text === "" ? {} : readJson(new TextEncoder().encode(text), DEFAULT_LIMITS);
  } catch {
    return undefined;
  }
}

/** The message of an error response: `{error: {message}}`, `{error: "…"}` or `{message}`. */
export function readComplaint(document: unknown): Maybe<string> {
  if (!isObject(document)) return undefined;
  const error = document["error"] ?? document;
  const message = isObject(error) ? error["message"] : error;
  return typeof message === "string" && message !== "" ? message : undefined;
}

/** Bytes: requests, responses, streams and their limits. Independent of Node; see `node/` for sockets. */
export { bytesOf, isEventStream, responseJson, wholeBody } from "./body.js";
export { etagOf, isFresh } from "./etag.js";
export {
  type Chunk,
  type Connection,
  type Exchange,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  type Intake,
  isStream,
  type Link,
  type RelayedSessionFacts,
  type RequestHead,
  type RequestSigner,
  type Session,
  type SessionEnd,
  type SessionMessage,
  type SessionSeal,
  type SessionTap,
  type Taken,
  type UnreadRequest,
  type Upgraded,
} from "./exchange.js";
export { type FetchHandlerOptions, fetchHandler } from "./fetch-handler.js";
export {
  blame,
  DecodeProblem,
  kindOf,
  optional,
  readArray,
  readBoolean,
  readInteger,
  readJsonValue,
  readObject,
  readString,
  readStrings,
  readText,
} from "./fields.js";
export { type JsonScan, readJson, scanJson } from "./json.js";
export {
  encodeRpcError,
  encodeRpcRequest,
  encodeRpcResult,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  parseRpcRequest,
  parseRpcResponse,
  type RpcAnswer,
  type RpcError,
  type RpcFault,
  type RpcId,
  type RpcOptions,
  type RpcRequest,
  readRpcRequest,
} from "./json-rpc.js";
export { DEFAULT_LIMITS, type Limits } from "./limits.js";
export { type MemoryOptions, memoryLink } from "./memory.js";
export { makeRequest, NEVER, type RequestStart, splitTarget, type Target } from "./request.js";
export { errorResponse, jsonResponse } from "./response.js";
export { encodeSse, SSE_COMMENT, type SseEvent, SseReader, sseEvents } from "./sse.js";

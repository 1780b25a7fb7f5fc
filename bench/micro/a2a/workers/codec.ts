import { v1 } from "../../../../src/protocols/a2a/codec/codec-1.0.js";
import type { DecodeFacts } from "../../../../src/protocols/a2a/dialect.js";
import { answerCommands } from "../../../harness/worker.js";
import { MARKER, rpcBody } from "../workload.js";

/** One request read from its text and written back, with and without the codec between. */

const BATCH_MS = 100;
const WARM_UP_MS = 500;
const TEXT = rpcBody("SendMessage");

const FACTS: DecodeFacts = { now: 1_750_000_000_000, src: "caller", dst: "bench", partsPerMessage: 256, reportLoss() {} };

interface RpcRequest {
  readonly id: number;
  readonly params: unknown;
}

function throughJson(): string {
  return JSON.stringify(JSON.parse(TEXT));
}

function throughCodec(): string {
  // The bench wrote this text itself.
  const request = JSON.parse(TEXT) as RpcRequest;
  const operation = v1.decodeRequest("SendMessage", request.params, FACTS);
  const encoded = v1.encodeRequest(operation, undefined, FACTS.reportLoss);
  return JSON.stringify({ jsonrpc: "2.0", id: request.id, method: encoded?.name, params: encoded?.params });
}

answerCommands({ json: () => microsecondsOf(throughJson), koine: () => microsecondsOf(throughCodec) });

const warm = new Set<() => string>();

function microsecondsOf(once: () => string): number {
  if (!warm.has(once)) runFor(once, WARM_UP_MS);
  warm.add(once);
  return runFor(once, BATCH_MS);
}

function runFor(once: () => string, ms: number): number {
  const from = performance.now();
  let calls = 0;
  let bytes = 0;
  while (performance.now() - from < ms) {
    for (let index = 0; index < 100; index++) bytes += once().length;
    calls += 100;
  }
  // Also keeps the results alive, so that nothing is optimised away.
  if (bytes < calls * MARKER.length) throw new Error("the message was lost on the way");
  return ((performance.now() - from) * 1000) / calls;
}

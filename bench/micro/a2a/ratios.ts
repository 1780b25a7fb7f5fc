import type { RatioDefinition, Target } from "../../harness/conclude.js";
import type { Metric } from "../../harness/result.js";
import { FEW_TASKS, MANY_STREAMS, MANY_TASKS } from "./growth.js";

/** The published numbers of this benchmark and their targets. */

export type SectionName =
  | "server"
  | "both"
  | "streams"
  | "client send"
  | "client stream"
  | "kept tasks"
  | "open streams"
  | "grpc"
  | "memory"
  | "codec"
  | "tasks kept";

function ratio(
  key: string,
  section: SectionName,
  pair: readonly [of: string, over: string],
  rest: { metric?: Metric; target?: Target } = {},
): RatioDefinition {
  const [of, over] = pair;
  const { metric = "perSecond", target } = rest;
  return { key, section, of, over, metric, ...(target && { target }) };
}

function cpu(atMost?: number): { readonly metric: Metric; readonly target?: Target } {
  return { metric: "cpuUs", ...(atMost !== undefined && { target: { atMost } }) };
}

export const RATIOS: readonly RatioDefinition[] = [
  ratio("floor_vs_floor", "server", ["floor again", "floor"], cpu()),
  ratio("floor_per_second_vs_floor", "server", ["floor again", "floor"]),
  ratio("unary_jsonrpc_server_vs_floor", "server", ["koine json-rpc", "floor"], { target: { atLeast: 0.8 } }),
  ratio("unary_rest_server_vs_floor", "server", ["koine rest", "floor rest"], { target: { atLeast: 0.8 } }),
  ratio("task_server_vs_floor", "server", ["koine task", "floor task"], { target: { atLeast: 0.5 } }),
  // The CPU time of the server for each answer: what a busy machine disturbs least.
  ratio("unary_jsonrpc_server_cpu_vs_floor", "server", ["koine json-rpc", "floor"], cpu(1.15)),
  ratio("unary_rest_server_cpu_vs_floor", "server", ["koine rest", "floor rest"], cpu(1.15)),
  ratio("task_server_cpu_vs_floor", "server", ["koine task", "floor task"], cpu(1.7)),
  ratio("stream20_server_cpu_vs_floor", "server", ["koine stream", "floor stream"], cpu(1.25)),
  // All events in one turn of the event loop: they leave together.
  ratio("burst20_server_cpu_vs_floor", "server", ["koine burst", "floor burst"], cpu(1)),
  ratio("stream20_server_vs_floor", "server", ["koine stream", "floor stream"]),
  ratio("a2ajs_unary_jsonrpc_server_cpu_vs_floor", "server", ["a2a-js json-rpc", "floor"], cpu()),
  ratio("a2ajs_stream20_server_cpu_vs_floor", "server", ["a2a-js stream", "floor stream"], cpu()),
  ratio("a2ajs_unary_jsonrpc_server_vs_floor", "server", ["a2a-js json-rpc", "floor"]),
  ratio("a2ajs_unary_rest_server_vs_floor", "server", ["a2a-js rest", "floor rest"]),
  ratio("a2ajs_task_server_vs_floor", "server", ["a2a-js task", "floor task"]),

  ratio("unary_jsonrpc_both_vs_floor", "both", ["koine json-rpc", "floor"], { target: { atLeast: 0.7 } }),
  ratio("unary_jsonrpc_both_vs_a2ajs", "both", ["koine json-rpc", "a2a-js json-rpc"], { target: { atLeast: 7 } }),
  ratio("task_both_vs_a2ajs", "both", ["koine task", "a2a-js task"], { target: { atLeast: 7 } }),
  ratio("a2ajs_unary_jsonrpc_both_vs_floor", "both", ["a2a-js json-rpc", "floor"]),
  ratio("a2ajs_task_both_vs_floor", "both", ["a2a-js task", "floor"]),

  ratio("stream20_vs_floor", "streams", ["koine", "floor"], { target: { atLeast: 0.65 } }),
  ratio("stream20_vs_a2ajs", "streams", ["koine", "a2a-js"], { target: { atLeast: 5 } }),
  // How many times sooner: the other's time over ours.
  ratio("stream_first_event_vs_a2ajs", "streams", ["a2a-js", "koine"], { metric: "firstEventUs", target: { atLeast: 4 } }),
  ratio("a2ajs_stream20_vs_floor", "streams", ["a2a-js", "floor"]),

  // The CPU time of the client for each call, of the same server.
  ratio("undici_unary_cpu_vs_undici", "client send", ["undici send again", "undici send"], cpu()),
  ratio("client_unary_cpu_vs_undici", "client send", ["koine send", "undici send"], cpu(1.3)),
  ratio("undici_stream20_cpu_vs_undici", "client stream", ["undici stream again", "undici stream"], cpu()),
  ratio("client_stream20_cpu_vs_undici", "client stream", ["koine stream", "undici stream"], cpu(1.3)),

  // Growth: the CPU time of the server for a request must stay the same.
  ratio("task_cpu_at_1000_kept_vs_itself", "kept tasks", [`${FEW_TASKS} tasks again`, `${FEW_TASKS} tasks`], cpu()),
  ratio("task_cpu_at_100000_kept_vs_1000", "kept tasks", [`${MANY_TASKS} tasks`, `${FEW_TASKS} tasks`], cpu(1.15)),
  ratio("unary_cpu_at_1_stream_vs_itself", "open streams", ["1 stream again", "1 stream"], cpu()),
  ratio("unary_cpu_at_5000_streams_vs_1", "open streams", [`${MANY_STREAMS} streams`, "1 stream"], cpu(1.15)),
  ratio("floor_unary_cpu_at_5000_streams_vs_1", "open streams", [`floor ${MANY_STREAMS} streams`, "floor 1 stream"], cpu()),

  ratio("http2_vs_http2", "grpc", ["http2 again", "http2"], cpu()),
  ratio("grpc_server_vs_http2", "grpc", ["koine", "http2"], { target: { atLeast: 0.55 } }),
  ratio("grpc_server_cpu_vs_http2", "grpc", ["koine", "http2"], cpu(1.5)),
  ratio("grpc_stream20_server_cpu_vs_http2", "grpc", ["koine stream", "http2 stream"], cpu()),
  ratio("grpc_stream20_server_cpu_vs_a2ajs", "grpc", ["koine stream", "a2a-js stream"], cpu()),
  ratio("grpc_server_vs_a2ajs", "grpc", ["koine", "a2a-js"], { target: { atLeast: 1.4 } }),

  ratio("rss_per_1000_streams_vs_a2ajs", "memory", ["koine", "a2a-js"], { metric: "rssMb", target: { atMost: 0.5 } }),
  ratio("floor_rss_per_1000_streams_vs_a2ajs", "memory", ["floor", "a2a-js"], { metric: "rssMb" }),
  // Without what the allocator and the kernel hold for the sockets, which is the same in every arm.
  ratio("heap_per_1000_streams_vs_a2ajs", "memory", ["koine", "a2a-js"], { metric: "heapMb" }),
  ratio("floor_heap_per_1000_streams_vs_a2ajs", "memory", ["floor", "a2a-js"], { metric: "heapMb" }),

  ratio("a2a_encode_decode_vs_json", "codec", ["koine", "json"], { metric: "codecUs", target: { atMost: 1.5 } }),
];

/** The keys that a quick run must decide. */
export const QUICK_KEYS = [
  "unary_jsonrpc_server_cpu_vs_floor",
  "task_server_cpu_vs_floor",
  "stream20_server_cpu_vs_floor",
  "unary_jsonrpc_server_vs_floor",
  "task_server_vs_floor",
] as const;

/** The keys that a full run must decide: all with a target. */
export const FULL_KEYS: readonly string[] = RATIOS.filter((definition) => definition.target !== undefined).map(({ key }) => key);

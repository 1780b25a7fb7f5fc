import { describe, expect, test } from "vitest";
import { FULL_KEYS, QUICK_KEYS, RATIOS } from "./ratios.js";

describe("RATIOS", () => {
  test("the targets are the published ones", () => {
    const got = Object.fromEntries(RATIOS.flatMap(({ key, target }) => (target === undefined ? [] : [[key, target]])));
    expect(got).toEqual({
      unary_jsonrpc_server_vs_floor: { atLeast: 0.8 },
      unary_rest_server_vs_floor: { atLeast: 0.8 },
      task_server_vs_floor: { atLeast: 0.5 },
      unary_jsonrpc_server_cpu_vs_floor: { atMost: 1.15 },
      unary_rest_server_cpu_vs_floor: { atMost: 1.15 },
      task_server_cpu_vs_floor: { atMost: 1.7 },
      stream20_server_cpu_vs_floor: { atMost: 1.25 },
      burst20_server_cpu_vs_floor: { atMost: 1 },
      client_unary_cpu_vs_undici: { atMost: 1.3 },
      client_stream20_cpu_vs_undici: { atMost: 1.3 },
      task_cpu_at_100000_kept_vs_1000: { atMost: 1.15 },
      unary_cpu_at_5000_streams_vs_1: { atMost: 1.15 },
      grpc_server_cpu_vs_http2: { atMost: 1.5 },
      unary_jsonrpc_both_vs_floor: { atLeast: 0.7 },
      unary_jsonrpc_both_vs_a2ajs: { atLeast: 7 },
      task_both_vs_a2ajs: { atLeast: 7 },
      stream20_vs_floor: { atLeast: 0.65 },
      stream20_vs_a2ajs: { atLeast: 5 },
      stream_first_event_vs_a2ajs: { atLeast: 4 },
      grpc_server_vs_http2: { atLeast: 0.55 },
      grpc_server_vs_a2ajs: { atLeast: 1.4 },
      rss_per_1000_streams_vs_a2ajs: { atMost: 0.5 },
      a2a_encode_decode_vs_json: { atMost: 1.5 },
    });
  });
  test("no key twice", () => expect(new Set(RATIOS.map(({ key }) => key)).size).toBe(RATIOS.length));
  test("quick decides a subset of full", () => expect(QUICK_KEYS.filter((key) => !FULL_KEYS.includes(key))).toEqual([]));
});

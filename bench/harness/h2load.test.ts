import { describe, expect, test } from "vitest";
import { readH2load } from "./h2load.js";

/** As nghttp2 1.52 prints it. */
const SAID = `starting benchmark...
spawning thread #0: 16 total client(s). Timing-based test with 0s of warm-up time and 1s of main duration for measurements.
finished in 1.00s, 5821.00 req/s, 1.90MB/s
requests: 5821 total, 5837 started, 5821 done, 5821 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 5821 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 1.90MB (1993344) total, 136.51KB (139789) headers (space savings 86.67%), 1.56MB (1635701) data
`;

describe("readH2load()", () => {
  test("reads the rate and the successful answers", () => {
    expect(readH2load(SAID)).toEqual({ perSecond: 5821, completed: 5821 });
  });

  test.each([
    ["nothing", ""],
    ["failures", SAID.replace("0 failed", "3 failed")],
    ["no good answer", SAID.replace("5821 2xx", "0 2xx")],
  ])("does not read %s as a measurement", (_name, said) => {
    expect(() => readH2load(said)).toThrow("h2load said");
  });
});

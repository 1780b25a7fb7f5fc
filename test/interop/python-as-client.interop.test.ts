import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../../src/index.js";
import { startKoine } from "../peers/koine.js";
import { pythonFor, type SdkVersion, talk } from "./python.js";

interface Way {
  readonly sdk: SdkVersion;
  readonly args: readonly string[];
}

const WAYS: readonly Way[] = [
  { sdk: "1.3.0", args: ["JSONRPC", "1.0"] },
  { sdk: "1.3.0", args: ["HTTP+JSON", "1.0"] },
  { sdk: "1.3.0", args: ["JSONRPC", "0.3"] },
  { sdk: "1.3.0", args: ["HTTP+JSON", "0.3"] },
  { sdk: "0.3.3", args: ["JSONRPC"] },
  { sdk: "0.3.3", args: ["HTTP+JSON"] },
];

describe.each(WAYS)("the official Python client $sdk by $args against our server", ({ sdk, args }) => {
  let server: Server;
  beforeAll(async () => {
    server = await startKoine();
  });
  afterAll(() => server?.close());

  test.skipIf(pythonFor(sdk) === undefined)("sees what every other client sees", async () => {
    const seen = await talk(sdk, server.url, ...args);
    expect(seen).toEqual({});
  });
});

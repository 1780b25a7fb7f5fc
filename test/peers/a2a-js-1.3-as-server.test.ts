import { describe, expect, test } from "vitest";
import { connect, Verdicts } from "../../src/index.js";
import { describeOfficial, PARTS } from "./against-official.js";
import { startOfficial13 } from "./official-1.3.js";

describeOfficial({
  name: "@a2a-js/sdk 1.3.0",
  start: () => startOfficial13({ legacy: true }),
  ways: [
    { pin: "a2a@1.0/JSONRPC", closed: "unsupported", extended: "unsupported", echoed: PARTS },
    { pin: "a2a@1.0/HTTP+JSON", closed: "unsupported", extended: "unsupported", echoed: PARTS },
    { pin: "a2a@0.3/JSONRPC", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
    { pin: "a2a@0.3/HTTP+JSON", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
  ],
});

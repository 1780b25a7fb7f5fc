import { describeWays, watermarkFolder } from "../watermark/ways.js";

/** The other ways than those of `test/watermark/watermark.test.ts`. */
describeWays(
  [
    { pin: "a2a@1.0/JSONRPC", mode: "relay" },
    // A gateway opens sealed sessions, not sealed messages.
    { pin: "secured-toy@1/WS", mode: "adopt" },
    { pin: "anp@1.2/WS", mode: "adopt" },
  ],
  watermarkFolder(),
);

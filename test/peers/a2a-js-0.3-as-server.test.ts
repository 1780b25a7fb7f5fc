import { describeOfficial, PARTS } from "./against-official.js";
import { startOfficial03 } from "./official-0.3.js";

describeOfficial({
  name: "@a2a-js/sdk 0.3.14",
  start: startOfficial03,
  ways: [
    { pin: "a2a@0.3/JSONRPC", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
    { pin: "a2a@0.3/HTTP+JSON", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
  ],
});

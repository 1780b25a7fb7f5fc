import { describeOfficial, NAMELESS, PARTS } from "./against-official.js";
import { startOfficial03 } from "./official-0.3.js";

describeOfficial({
  name: "@a2a-js/sdk 0.3.14",
  start: startOfficial03,
  interfaces: [
    { pin: "a2a@0.3/JSONRPC", closed: "invalid_message", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
    {
      pin: "a2a@0.3/HTTP+JSON",
      closed: "invalid_message",
      extended: "unsupported",
      unlisted: "unsupported_method",
      // It answers 500 and "Bug: toJson serializer and body must be provided".
      unknownStream: "internal",
      echoed: NAMELESS,
    },
  ],
});

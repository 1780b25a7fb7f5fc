import { describe } from "vitest";
import { describeOfficial, PARTS } from "../peers/against-official.js";
import { pythonFor, startPython } from "./python.js";

describe.skipIf(pythonFor("a2a-1.3.0") === undefined)("Python", () => {
  describeOfficial({
    name: "the official Python server 1.3.0",
    start: () => startPython({ environment: "a2a-1.3.0", file: "server_10" }),
    interfaces: [
      { pin: "a2a@1.0/JSONRPC", closed: "unsupported", extended: "unsupported", echoed: PARTS },
      { pin: "a2a@1.0/HTTP+JSON", closed: "unsupported", extended: "unsupported", echoed: PARTS },
      { pin: "a2a@1.0/GRPC", closed: "unsupported", extended: "unsupported", echoed: PARTS },
      { pin: "a2a@0.3/JSONRPC", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
      { pin: "a2a@0.3/GRPC", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
      {
        pin: "a2a@0.3/HTTP+JSON",
        closed: "unsupported",
        extended: "unsupported",
        unlisted: "unsupported_method",
        // It answers 200, and then ends the stream without an event.
        unknownStream: "interrupted",
        echoed: PARTS,
      },
    ],
  });
});

describe.skipIf(pythonFor("a2a-0.3.3") === undefined)("Python", () => {
  describeOfficial({
    name: "the official Python server 0.3.3",
    start: () => startPython({ environment: "a2a-0.3.3", file: "server_03" }),
    interfaces: [
      {
        pin: "a2a@0.3/JSONRPC",
        closed: "invalid_message",
        extended: "card_not_configured",
        // It may close its queue before its readers have taken the last event.
        firstWatched: /^(status canceled|interrupted)$/,
        lastOfCancelled: /^(status canceled|interrupted)$/,
        unlisted: "unsupported_method",
        echoed: PARTS,
      },
      {
        pin: "a2a@0.3/HTTP+JSON",
        closed: "invalid_message",
        extended: "not_found",
        // It may close its queue before its readers have taken the last event.
        firstWatched: /^(status canceled|interrupted)$/,
        lastOfCancelled: /^(status canceled|interrupted)$/,
        unlisted: "unsupported_method",
        unknownStream: "interrupted",
        echoed: PARTS,
        // Its protobuf has no such state.
        rejected: "unknown",
      },
    ],
  });
});

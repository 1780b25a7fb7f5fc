import { connect } from "../../../../src/index.js";
import { TEXT } from "../workload.js";
import { answerAsClient } from "./client.js";

/** Koine's own client as a user has it: `connect` finds out, `ask` and `stream` call. */

answerAsClient(async (server, binding) => {
  const peer = await connect(server.url, { pin: binding === "rpc" ? "a2a@1.0/JSONRPC" : "a2a@1.0/HTTP+JSON" });
  return {
    send: () => peer.ask(TEXT),
    stream: () => peer.stream(TEXT),
  };
});

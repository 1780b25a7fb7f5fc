import { bridge, serve } from "../../../../src/index.js";
import { protocols } from "../../../../src/public/protocols.js";
import { answerCommands } from "../../../harness/worker.js";

/** A gateway in relay mode before an agent with a DID: it passes sealed sessions on unopened. Answers with its address. */

answerCommands({ start });

async function start(agentUrl: string): Promise<string> {
  const sealing = protocols.filter(({ usesIdentity }) => usesIdentity === true);
  const bridged = await bridge(agentUrl, { protocols: sealing, bridge: { mode: "relay", name: "echo" } });
  return (await serve(bridged, { protocols: sealing })).url;
}

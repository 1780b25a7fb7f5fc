import { bridge, openSqliteStore, serve } from "../../../../src/index.js";
import { answerCommands } from "../../../harness/worker.js";
import { wireOf } from "../wires/all.js";
import { AGENT } from "../wires/wire.js";

/** Koine as a user has it: `bridge` and `serve`, every default. */

export interface StartGateway {
  /** Where the agent is found. */
  readonly url: string;
  /** The wire that is spoken with it. */
  readonly wire: string;
  readonly mode: "relay" | "adopt";
  /** Undefined: tasks are kept in memory. */
  readonly file: string | undefined;
}

answerCommands({
  async start({ url, wire, mode, file }: StartGateway): Promise<number> {
    const bridged = await bridge(url, { pin: wireOf(wire).pin, bridge: { name: AGENT, mode } });
    const store = file === undefined ? undefined : await openSqliteStore({ file, now: Date.now });
    const server = await serve(bridged, { port: 0, ...(store === undefined ? {} : { store }) });
    return server.port;
  },
});

import { answerCommands } from "../../../harness/worker.js";
import { startUpstream, type Upstream } from "../upstream.js";
import { wireOf } from "../wires/all.js";
import type { Ports } from "../wires/wire.js";

/** The agent of a pair in its own process. */

let upstream: Upstream | undefined;

answerCommands({
  async start({ wire }: { readonly wire: string }): Promise<Ports> {
    upstream = await startUpstream(wireOf(wire));
    return upstream.ports;
  },
  messages: () => upstream?.messages() ?? 0,
});

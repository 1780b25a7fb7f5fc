import { newAgent } from "../../../src/protocols/sage/api/builder.js";
import type { SageOptions } from "../../../src/protocols/sage/api/options.js";
import { ProtocolSAGE } from "../../../src/protocols/sage/api/selector.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { createReplayGuard } from "../../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../../src/transport/limits.js";
import { freePort } from "../../anp/directory.js";
import { SageWorld, SETTINGS } from "../world.js";

/** Agents of the door `koine/protocols/sage` in one registry, closed after the test. */
export class DoorWorld extends SageWorld {
  /** The options of a registered agent. */
  async sageOf(given?: LocalIdentity): Promise<SageOptions & { readonly identity: LocalIdentity }> {
    const identity = given ?? (await this.register());
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    return { did: identity.did, network: "local", identity, store: this.store, settings: SETTINGS.sage, replay };
  }

  /** A served agent that says who called. */
  async desk(): Promise<{ readonly url: string; readonly did: string }> {
    const port = await freePort();
    const identity = await this.register(`http://127.0.0.1:${port}`);
    const desk = newAgent("desk")
      .withProtocol(ProtocolSAGE)
      .withSAGE(await this.sageOf(identity))
      .onMessage((message, task) => `${task.caller}: ${message.text}`)
      .build();
    const server = await desk.serve({ port });
    this.closing(() => server.close());
    this.closing(() => desk.close());
    return { url: server.url, did: identity.did };
  }
}

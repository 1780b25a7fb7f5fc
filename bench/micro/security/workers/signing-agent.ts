import { agent, serve } from "../../../../src/index.js";
import { DEFAULT_LIMITS } from "../../../../src/internal.js";
import { createReplayGuard } from "../../../../src/public/auth.js";
import { createIdentity } from "../../../../src/public/identity.js";
import { protocols } from "../../../../src/public/protocols.js";
import { answerCommands } from "../../../harness/worker.js";
import type { CallTarget } from "../sealed-echo.js";

/** An agent that echoes, served by every protocol that signs or seals by itself. Answers with its interfaces. */

answerCommands({ start });

async function start(): Promise<readonly CallTarget[]> {
  const echo = agent({ name: "echo", description: "says what it hears", handle: (message) => message.text });
  const server = await serve(echo, {
    protocols: protocols.filter(({ usesIdentity }) => usesIdentity === true),
    identity: createIdentity({ name: "echo", did: "key" }),
    // Nothing was accepted before: the first signatures need no challenge.
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  return server
    .interfaces("echo")
    .map(({ protocol, version, binding }) => ({ url: server.url, pin: `${protocol}@${version}/${binding}` }));
}

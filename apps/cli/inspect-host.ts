import { AgentError } from "../../src/index.js";
import { credentialHeaders, limitedSignal } from "../../src/internal.js";
import type { InspectedHost } from "../../src/public/inspect.js";
import { cancelFrom } from "../../src/public/protocols.js";
import { poolLink } from "../../src/transport/node/index.js";
import type { CredentialOptions } from "./credentials.js";
import { CliError, EXIT } from "./exit.js";
import type { IdentityCredentialOptions } from "./identity-credentials.js";
import { listenForInterrupt } from "./interrupt.js";
import { checkedAddress, shownCredentials } from "./peer.js";

export interface LookOptions extends CredentialOptions, IdentityCredentialOptions {}

const NOTHING_THERE =
  "A gateway shows its messages only to callers of its own machine, or to those it was told of; and the inspector must be on.";

/** Reaches a gateway for as long as the command runs. Ends without a complaint on Ctrl-C, or after `forMs`. */
export async function look(
  url: string,
  options: LookOptions,
  run: (host: InspectedHost) => Promise<void>,
  forMs?: number,
): Promise<void> {
  const address = checkedAddress(url);
  const credentials = await shownCredentials(options);
  const link = poolLink({ tls: credentials.tls });
  const interrupt = listenForInterrupt();
  const limited = forMs === undefined ? undefined : limitedSignal(interrupt.signal, forMs);
  const signal = limited?.signal ?? interrupt.signal;
  try {
    await run({ link, url: address, headers: credentialHeaders(credentials), cancel: cancelFrom(signal) });
  } catch (thrown) {
    if (signal.aborted) return;
    if (thrown instanceof AgentError && thrown.code === "not_found")
      throw new CliError(EXIT.failure, `${address} shows no messages`, { code: "not_found", hint: NOTHING_THERE });
    throw thrown;
  } finally {
    limited?.stop();
    interrupt.stop();
    void link.close();
  }
}

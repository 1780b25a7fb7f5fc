import { isLoopbackAddress } from "../../../transport/loopback.js";
import { demand, demandString, show, skip } from "../../check.js";
import { NEGOTIATION } from "../wire.js";
import { newDocument } from "./documents.js";
import {
  type AgoraRequirement,
  type Change,
  conversationUrl,
  demandRefused,
  further,
  natural,
  openConversation,
  type Probe,
  post,
  remove,
  say,
} from "./probe.js";

const SEED = "seed G.6, capability 5: Bearer";
const ANONYMOUS: Change = { anonymous: true };

/** Skips servers that admit anonymous callers. */
async function demandCredentials(probe: Probe): Promise<void> {
  const got = await post(probe, natural("hello"), ANONYMOUS);
  if (got.status === 200) skip("the server requires no credentials");
}

function demandStopped(status: number, what: string): void {
  demand(status === 401 || status === 403, `${what} was answered ${status}`);
}

/** Authentication, and what anonymous callers can make a server do. */
export const securityRequirements: readonly AgoraRequirement[] = [
  {
    key: "auth:message",
    capability: "security",
    source: SEED,
    behaviour: "A message without credentials is rejected with 401 or 403 as an Agora error that names the scheme.",
    needs: ["credentials"],
    async run(probe) {
      await demandCredentials(probe);
      const got = await post(probe, natural("hello"), ANONYMOUS);
      demandStopped(got.status, "a message");
      demandRefused(got);
      if (got.status === 401) demandString(got.headers["www-authenticate"], "WWW-Authenticate");
    },
  },
  {
    key: "auth:wrong",
    capability: "security",
    source: SEED,
    behaviour: "A message with wrong credentials is rejected.",
    needs: ["credentials"],
    async run(probe) {
      await demandCredentials(probe);
      const wrong = Object.fromEntries(Object.keys(probe.subject.headers).map((name) => [name, "Bearer wrong"]));
      demandStopped((await post(probe, natural("hello"), { headers: wrong })).status, "a message");
    },
  },
  {
    key: "auth:negotiation",
    capability: "security",
    source: SEED,
    behaviour: "A negotiation requires the same credentials as a message.",
    needs: ["credentials"],
    async run(probe) {
      await demandCredentials(probe);
      const members = { protocolHash: NEGOTIATION, protocolSources: null, body: "hello", multiround: true };
      demandStopped((await post(probe, members, ANONYMOUS)).status, "a negotiation");
    },
  },
  {
    key: "auth:conversation",
    capability: "security",
    source: SEED,
    behaviour: "The id of a conversation alone does not allow sending messages to it.",
    needs: ["credentials"],
    async run(probe) {
      await demandCredentials(probe);
      const { id } = await openConversation(probe);
      const url = conversationUrl(probe.subject, id);
      demandStopped((await post(probe, natural("two"), { ...ANONYMOUS, url })).status, "a further message");
    },
  },
  {
    key: "auth:delete",
    capability: "security",
    source: SEED,
    behaviour: "The id of a conversation alone does not allow closing it.",
    needs: ["credentials"],
    async run(probe) {
      await demandCredentials(probe);
      const { id } = await openConversation(probe);
      demandStopped((await remove(probe, id, ANONYMOUS)).status, "DELETE");
      const { status } = await further(probe, id, "two");
      demand(status === "success", "the conversation is gone");
    },
  },
  {
    key: "ssrf:loopback",
    capability: "security",
    level: "should",
    source: "CWE-918",
    behaviour: "A source on the server's own machine is not fetched: the caller chose the address.",
    async run(probe) {
      const { openHook, url } = probe.subject;
      const neighbours = probe.koine !== undefined && isLoopbackAddress(new URL(url).hostname);
      if (neighbours) return skip("a Koine server on loopback may fetch loopback addresses");
      if (openHook === undefined) return skip("the subject could not reach an address of ours");
      const hook = await openHook();
      const { hash } = await newDocument(probe);
      const sources = [hook.url, hook.url.replace("127.0.0.1", "localhost")];
      demandRefused(await post(probe, { protocolHash: hash, protocolSources: sources, body: "{}" }));
      demand(hook.deliveries.length === 0, `${hook.deliveries.length} requests came`);
    },
  },
  {
    key: "ssrf:other-schemes",
    capability: "security",
    source: "CWE-918",
    behaviour: "Sources that are not http URLs are not fetched.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const source of ["file:///etc/hostname", "ftp://127.0.0.1/x", "javascript:1", "//127.0.0.1/", ""])
        demandRefused(await post(probe, { protocolHash: hash, protocolSources: [source], body: "{}" }));
    },
  },
  {
    key: "ssrf:tells-nothing",
    capability: "security",
    level: "should",
    source: "CWE-918",
    behaviour: "The rejection of a source discloses nothing about its address.",
    async run(probe) {
      const texts: string[] = [];
      for (const source of ["http://127.0.0.1:9/", "http://127.0.0.1:1/", "http://no-such-host.invalid/"]) {
        const { hash } = await newDocument(probe);
        const { text } = await say(probe, { protocolHash: hash, protocolSources: [source], body: "{}" });
        // The hash is the caller's own.
        texts.push(text.replaceAll(hash, ""));
      }
      demand(new Set(texts).size === 1, `it says ${show(texts)}`);
    },
  },
];

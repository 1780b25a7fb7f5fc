import { isLoopbackAddress } from "../../../transport/loopback.js";
import { demand, demandString, show, skip } from "../../duty.js";
import { NEGOTIATION } from "../wire.js";
import { newDocument } from "./documents.js";
import {
  type AgoraDuty,
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

/** Ends the check of a server that lets strangers in. */
async function demandCredentials(probe: Probe): Promise<void> {
  const got = await post(probe, natural("hello"), ANONYMOUS);
  if (got.status === 200) skip("the server asks for no credentials");
}

function demandStopped(status: number, what: string): void {
  demand(status === 401 || status === 403, `${what} was answered ${status}`);
}

/** Who may speak, and what a stranger can make a server do. */
export const securityDuties: readonly AgoraDuty[] = [
  {
    key: "auth:message",
    capability: "security",
    source: SEED,
    behaviour:
      "A message without credentials is refused with 401 or 403, in the form of Agora's errors, and tells how to do better.",
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
    behaviour: "A message with wrong credentials is refused.",
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
    behaviour: "A negotiation needs the credentials that a message needs.",
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
    behaviour: "Knowing the id of a conversation is not enough to speak in it.",
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
    behaviour: "Knowing the id of a conversation is not enough to close it.",
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
    behaviour: "A source on the server's own machine is not fetched: a stranger wrote that address.",
    async run(probe) {
      const { openHook, url } = probe.subject;
      const neighbours = probe.own !== undefined && isLoopbackAddress(new URL(url).hostname);
      if (neighbours) return skip("a Koine server that only its own machine reaches lets its neighbours name addresses there");
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
    behaviour: "Sources that are no http addresses lead nowhere.",
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
    behaviour: "The refusal of a source does not tell what is behind its address.",
    async run(probe) {
      const texts: string[] = [];
      for (const source of ["http://127.0.0.1:9/", "http://127.0.0.1:1/", "http://no-such-host.invalid/"]) {
        const { hash } = await newDocument(probe);
        texts.push((await say(probe, { protocolHash: hash, protocolSources: [source], body: "{}" })).text);
      }
      demand(new Set(texts).size === 1, `it says ${show(texts)}`);
    },
  },
];

import { AgentError } from "../../../envelope/index.js";
import { keepRetired, openIdentity } from "../../../security/identity/index.js";
import type { ProtocolCommand } from "../../protocol.js";
import { didAllOf, parseDidAll } from "../legacy-session/did-all.js";
import { serverKeyOf } from "../legacy-session/own-key.js";
import { documentPath, isDidWba, stableSubject } from "./did-wba.js";
import { wbaDocument } from "./document.js";

/** The commands `koine anp …`. */
export const commands: readonly ProtocolCommand[] = [
  {
    words: "retire",
    summary: "take a DID out of use: print the document that names its successor, and keep it with the successor's identity",
    arguments: [
      { name: "FILE", about: "the identity that goes out of use" },
      {
        name: "SUCCESSOR",
        about: "the identity file of its successor, with which `koine serve --identity` publishes the document; or only its DID",
      },
    ],
    store: "none",
    examples: ["koine anp retire old.json new.json", "koine anp retire old.json did:wba:agents.example:desk:e1_… > did.json"],
    async run([file = "", next = ""]) {
      const identity = await openIdentity(file);
      const isDid = next.startsWith("did:");
      const successor = isDid ? next : (await openIdentity(next)).did;
      checkSuccessor(identity.did, successor);
      const document = await wbaDocument(identity, { services: [], successor }, Date.now());
      // With those of the DIDs before it, which are published with the new identity from now on.
      const keptIn = isDid ? undefined : await keepRetired(next, [...identity.retired(), document]);
      return {
        text: JSON.stringify(document, undefined, 2),
        document: { publishAt: documentPath(identity.did), ...(keptIn === undefined ? undefined : { keptIn }), document },
      };
    },
  },
  {
    words: "legacy-did",
    summary: "print the DID of an identity for peers with agent-connect 0.3",
    arguments: [
      { name: "FILE", about: "an identity with a P-256 key" },
      { name: "HOST", about: "where its server is reached: HOST or HOST:PORT" },
    ],
    store: "none",
    examples: ["koine anp legacy-did desk.json agents.example:8080"],
    async run([file = "", host = ""]) {
      const did = didAllOf(serverKeyOf(await openIdentity(file)).key.bytes, host);
      if (parseDidAll(did) === undefined)
        throw new AgentError("invalid_message", `${host.slice(0, 200)} is not a host`, { field: "host" });
      return { text: did, document: { did } };
    },
  },
];

/** A successor is the same subject with another key (ANP-03 §5): anything else would hand the name to somebody else. */
function checkSuccessor(did: string, successor: string): void {
  if (!isDidWba(did)) throw new AgentError("invalid_message", `${did} is not a did:wba`, { field: "did" });
  if (!isDidWba(successor))
    throw new AgentError("invalid_message", `${successor.slice(0, 200)} is not a did:wba`, { field: "successor" });
  if (successor === did) throw new AgentError("invalid_message", "a DID is not its own successor", { field: "successor" });
  if (stableSubject(successor) !== stableSubject(did))
    throw new AgentError("invalid_message", `the successor must be at ${stableSubject(did)}`, { field: "successor" });
}

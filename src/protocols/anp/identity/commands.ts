import { AgentError } from "../../../envelope/index.js";
import { openIdentity } from "../../../security/identity/index.js";
import type { ProtocolCommand } from "../../protocol.js";
import { documentPath, isDidWba, stableSubject } from "./did-wba.js";
import { wbaDocument } from "./document.js";

/** The commands `koine anp …`. */
export const commands: readonly ProtocolCommand[] = [
  {
    words: "retire",
    summary: "print the document of a DID that has a successor, to publish in place of the old one",
    arguments: [
      { name: "FILE", about: "the identity that goes out of use" },
      { name: "DID", about: "its successor, with another key at the same subject" },
    ],
    storeless: true,
    examples: ["koine anp retire old.json did:wba:agents.example:desk:e1_… > did.json"],
    async run([file = "", successor = ""]) {
      const identity = await openIdentity(file);
      checkSuccessor(identity.did, successor);
      const document = await wbaDocument(identity, { services: [], successor }, Date.now());
      return { text: JSON.stringify(document, undefined, 2), document: { publishAt: documentPath(identity.did), document } };
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

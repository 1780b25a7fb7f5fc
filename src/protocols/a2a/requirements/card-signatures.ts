import type { JsonObject } from "../../../envelope/index.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { demand, demandObject, demandString, show, skip } from "../../check.js";
import { type CardRequirement, listOf } from "./card-view.js";

/** Checks the format of signatures; whether they are valid depends on trusted keys. */
export const signatureRequirements: readonly CardRequirement[] = [
  {
    key: "signatures",
    capability: "security",
    source: "A2A 1.0 §8.4",
    behaviour: "Signatures have a protected header and a signature, both base64url.",
    run({ document }) {
      for (const each of signaturesOf(document))
        for (const name of ["protected", "signature"])
          demand(/^[\w-]+$/.test(String(each[name])), `signatures[].${name} is ${show(each[name])}`);
    },
  },
  {
    key: "signature-header",
    capability: "security",
    source: "A2A 1.0 §8.4.2, RFC 7515 §4",
    behaviour: "The protected header of a signature names a signing algorithm and a key id.",
    run({ document }) {
      for (const each of signaturesOf(document)) {
        const header = protectedHeader(each);
        demand(demandString(header["alg"], "alg") !== "none", "alg is none");
        demandString(header["kid"], "kid");
      }
    },
  },
  {
    key: "signature-type",
    capability: "security",
    level: "should",
    source: "A2A 1.0 §8.4.2",
    behaviour: "The protected header of a signature has JOSE as its type.",
    run({ document }) {
      for (const each of signaturesOf(document))
        demand(protectedHeader(each)["typ"] === "JOSE", `typ is ${show(protectedHeader(each)["typ"])}`);
    },
  },
];

function signaturesOf(document: JsonObject): readonly JsonObject[] {
  const signatures = listOf(document["signatures"]);
  return signatures.length === 0 ? skip("the card is not signed") : signatures;
}

function protectedHeader(signature: JsonObject): JsonObject {
  const text = demandString(signature["protected"], "protected");
  return demandObject(JSON.parse(new TextDecoder().decode(readBase64(text, "protected"))), "the protected header");
}

/**
 * Converts between messages and the forms of SAGE. Pure: clock, ids and keys come from outside.
 *
 *   signed by their author   writeSigned(message) → bytes                          readSigned(bytes) → SignedMessage
 *   sealed in a session      sealContent(content, belongs, at, seal) → Part        sealedIn(parts), readContent(plaintext)
 *   the form of the seed     writeSeedMessage(message) → JsonObject                readSeedMessage(value)
 */
export { readContent, sealContent, sealedIn } from "./message/sealed-content.js";
export { readSeedMessage, readSignatureText, writeSeedMessage, writeSignatureText } from "./message/seed-codec.js";
export { readSigned, writeSigned } from "./message/signed-message.js";

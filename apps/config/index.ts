/** Files that people write: agents, and documents whose members know their places. */
export { loadAgents } from "./load-agents.js";

export { type MemberPath, memberOf, pathOf } from "./member-path.js";
export { type DocumentMistake, type PlacedDocument, placedDocument, type Spot } from "./placed-document.js";
export { DOCUMENT_BYTES, readDocument } from "./read-document.js";

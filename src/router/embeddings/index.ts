/** Sentence embeddings for the router, from optional packages that are installed on request. */
export type { Embedder } from "../embedder.js";
export { type LocalEmbedder, openEmbedder } from "./embedder.js";
export { type Installed, type InstallOptions, installEmbeddings, removeEmbeddings } from "./install.js";
export { embeddingsDir } from "./install-folder.js";
export { type EmbeddingsStatus, embeddingsStatus } from "./status.js";

import { type Protocol, protocols } from "../../src/public/protocols.js";
import { securedToy } from "../secured-toy/index.js";

/** The protocols of the processes: those of the package, and the toy that seals its sessions. */
export const REGISTRY: readonly Protocol[] = [...protocols, securedToy];

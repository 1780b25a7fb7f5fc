/** The only import of the router: the measured code is used through this file. */

export { AgentError, type Cancel } from "../../src/index.js";
export { PROMPT_TEMPLATES, PROMPT_VERSION } from "../../src/internal.js";
export type { FunctionCallingModel } from "../../src/public/models.js";
export { cancelFrom } from "../../src/public/protocols.js";
export type { LocalEmbedder } from "../../src/router/embeddings/index.js";
export {
  ABLATIONS,
  type Ablation,
  type Decision,
  defaultCandidates,
  type Embedder,
  type Features,
  feasibleCandidates,
  type Module,
  modelOpinion,
  type OpinionAnswer,
  parseRanking,
  parseScenarioText,
  type RouterSettings,
  route,
  type Scenario,
  type SecondOpinion,
} from "../../src/router/index.js";

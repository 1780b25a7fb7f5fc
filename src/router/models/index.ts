/** Language models behind one interface. Nothing here is needed unless a model is configured. */
export type {
  FunctionCall,
  FunctionCallingModel,
  FunctionRequest,
  LanguageModel,
  ModelAnswer,
  ModelFunction,
  ModelMessage,
  ModelRequest,
} from "./language-model.js";
export { type OpenAiModel, type OpenAiModelOptions, openAiModel } from "./open-ai-model.js";

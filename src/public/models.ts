/** Language models behind one interface. Nothing here is needed unless a model is configured. */
export {
  type FunctionCall,
  type FunctionCallingModel,
  type FunctionRequest,
  type LanguageModel,
  type ModelAnswer,
  type ModelFunction,
  type ModelMessage,
  type ModelRequest,
  type OpenAiModel,
  type OpenAiModelOptions,
  openAiModel,
} from "../router/models/index.js";

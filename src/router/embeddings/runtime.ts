import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { AgentError } from "../../envelope/index.js";

/** The used part of a tensor. */
interface Tensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** A loaded model. */
interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(inputs: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

/** The used part of onnxruntime-node. */
interface OnnxRuntime {
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => unknown;
}

/** The used part of @huggingface/tokenizers. */
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: unknown, config: unknown) => { encode(text: string): { readonly ids: readonly number[] } };
}

/** The model and its tokenizer, ready for use. */
export interface Runtime {
  /** The token ids of a text. */
  tokensOf(text: string): readonly number[];
  /** One row per token, all rows concatenated. */
  run(tokens: readonly number[]): Promise<Float32Array>;
  release(): Promise<void>;
}

/** One thread, sequential: sums are computed in the same order each time. */
const SESSION = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  logSeverityLevel: 3,
};

/** Loads the model and the packages from the folder, on first use. */
export async function loadRuntime(dir: string): Promise<Runtime> {
  try {
    // Resolved from the folder, so that packages of the same name elsewhere are not used.
    const load = createRequire(join(dir, "package.json"));
    // Optional packages have no types at build time. Their versions are pinned by digest.
    const { InferenceSession, Tensor } = load("onnxruntime-node") as OnnxRuntime;
    const { Tokenizer } = load("@huggingface/tokenizers") as Tokenizers;
    const json = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(dir, "model", name), "utf8"));
    const tokenizer = new Tokenizer(await json("tokenizer.json"), await json("tokenizer_config.json"));
    const session = await InferenceSession.create(join(dir, "model", "onnx", "model_q4.onnx"), SESSION);
    return {
      tokensOf: (text) => tokenizer.encode(text).ids,
      run: (tokens) => runOn(session, Tensor, tokens),
      release: () => session.release(),
    };
  } catch (cause) {
    throw new AgentError("unsupported", "the packages for sentence embeddings cannot be loaded on this machine", { cause });
  }
}

async function runOn(session: Session, Tensor: OnnxRuntime["Tensor"], tokens: readonly number[]): Promise<Float32Array> {
  const dims = [1, tokens.length];
  const filled = (numbers: readonly number[]): unknown => new Tensor("int64", BigInt64Array.from(numbers, BigInt), dims);
  const inputs: Readonly<Record<string, unknown>> = {
    input_ids: filled(tokens),
    attention_mask: filled(tokens.map(() => 1)),
    token_type_ids: filled(tokens.map(() => 0)),
  };
  const known = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]]));
  const output = (await session.run(known))[session.outputNames[0] ?? ""];
  if (output === undefined) throw new AgentError("internal", "the model for sentence embeddings gave no output");
  return output.data;
}

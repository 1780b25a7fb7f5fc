import type { JsonObject, Maybe } from "../../../envelope/index.js";
import { keyFingerprint, openIdentity, writeNewIdentity } from "../../../security/identity/index.js";
import type { CommandOption, CommandOutput, CommandTools, ProtocolCommand } from "../../protocol.js";
import type { AgentInfo } from "../identity/agent-record.js";
import { DidCache } from "../identity/did-cache.js";
import { checkedSageDid, isNetwork, NETWORKS, type Network } from "../identity/did-sage.js";
import { createSageIdentity } from "../identity/own-identity.js";
import { readHttpRequest } from "../legacy/http-message.js";
import { type LegacyVerification, verifyLegacyRequest } from "../legacy/legacy-signatures.js";
import { REGISTRY_LIMITS, type Registry } from "../registry/registry.js";
import { identityName } from "./create-identity.js";
import { DEV_PORT, deployRegistry, startDevChain } from "./dev-chain.js";
import { Registrar, type Steps } from "./registrar.js";
import { FROM_BLOCK, profileOf, REGISTRY_OPTIONS, usage, withReader, withRegistry } from "./registry-options.js";

const FILE = { name: "FILE", about: "the identity file of the agent" } as const;

/** The commands `koine sage …`. */
export const commands: readonly ProtocolCommand[] = [
  {
    words: "create",
    summary: "make an identity with an account, a key to sign with and one to agree with",
    arguments: [{ name: "FILE", about: "the new identity file; an existing one is not overwritten" }],
    options: [
      { flags: "--network <name>", about: `one of ${Object.keys(NETWORKS).join(", ")}`, default: "local" },
      {
        flags: "--registry-profile <name>",
        about: "for which registry: sage, or agent-card, in which names of keys are made of the keys",
        default: "sage",
      },
    ],
    store: "none",
    examples: ["koine sage create ~/.koine/support.json --network kairos"],
    async run([file = ""], { options }) {
      const identity = await createSageIdentity(identityName(file), networkOf(options["network"]), profileOf(options));
      await writeNewIdentity(file, identity);
      return { text: identity.did, document: { file, did: identity.did } };
    },
  },
  changing("register", "register the agent with all its keys, by commitment and reveal", {
    options: [{ flags: "--endpoint <url>", about: "where the agent is", default: "" }],
    examples: [
      "koine sage register agent.json --endpoint https://agent.example --data ./state",
      "koine sage register agent.json --rpc http://127.0.0.1:8545 --registry 0x…",
    ],
    run: (registrar, _given, { options }) => registrar.register(checkedEndpoint(options["endpoint"] ?? "")),
  }),
  {
    words: "show",
    summary: "print what the registry says about an agent, with every proof verified",
    arguments: [{ name: "DID", about: "a did:sage, or the identity file of the agent" }],
    options: [...REGISTRY_OPTIONS, FROM_BLOCK],
    store: "optional",
    readOnly: true,
    examples: [
      "koine sage show did:sage:local:0x… --data ./state",
      "koine sage show did:sage:sepolia:0x… --rpc https://… --registry 0x… --registry-profile agent-card",
    ],
    async run([subject = ""], tools) {
      const did = checkedSageDid(subject.startsWith("did:") ? subject : (await openIdentity(subject)).did);
      return withReader(did, tools, async (registry) => {
        return shown(await new DidCache({ registries: [registry] }).getAgentInfo(did.did));
      });
    },
  },
  changing("rotate", "replace the keys in the file and in the registry; the account stays", {
    options: [
      {
        flags: "--overlap <seconds>",
        about: `how long the old keys stay valid, at most ${REGISTRY_LIMITS.overlapSeconds}`,
        default: String(REGISTRY_LIMITS.overlapSeconds),
      },
    ],
    examples: ["koine sage rotate agent.json --overlap 60 --data ./state"],
    run: (registrar, _given, { options }) => registrar.rotate(checkedOverlap(options["overlap"])),
  }),
  changing("revoke", "take a key out of use at once, in the registry and in the file", {
    more: [{ name: "KEY", about: "the id of the key, or what follows the # in it" }],
    examples: ["koine sage revoke agent.json key-2 --data ./state"],
    run: (registrar, [key = ""]) => registrar.revoke(key),
  }),
  changing("endpoint", "change where the agent is", {
    more: [{ name: "URL", about: "the new endpoint" }],
    examples: ["koine sage endpoint agent.json https://new.example --data ./state"],
    run: (registrar, [url = ""]) => registrar.setEndpoint(checkedEndpoint(url)),
  }),
  changing("deactivate", "take the agent out of use for ever", {
    examples: ["koine sage deactivate agent.json --data ./state"],
    run: (registrar) => registrar.deactivate(),
  }),
  {
    words: "legacy verify",
    summary: "judge a request that an agent of SAGE up to 1.5 signed; nothing else uses that form",
    arguments: [{ name: "FILE", about: "the HTTP/1.1 request as it is on the wire" }],
    options: [...REGISTRY_OPTIONS, FROM_BLOCK, { flags: "--at <time>", about: "when it arrived; default now" }],
    store: "optional",
    readOnly: true,
    examples: [
      "koine sage legacy verify request.http --at 2026-02-20T10:00:00Z --rpc https://… --registry 0x… --registry-profile agent-card",
    ],
    async run([file = ""], tools) {
      const { request, body } = readHttpRequest(await tools.readFile(file));
      const nowMs = checkedTime(tools.options["at"]);
      const [, signer] = /;keyid="([^"]{1,512})"/.exec(request.headers["signature-input"] ?? "") ?? [];
      if (signer === undefined) throw usage("the request has no signature with a keyid");
      const did = checkedSageDid(signer);
      return withReader(did, tools, async (registry) => {
        const cache = new DidCache({ registries: [registry] });
        return judged(await verifyLegacyRequest(request, body, { cache, nowMs }));
      });
    },
  },
  {
    words: "chain dev",
    summary: "run a chain on this machine for development, with the registry deployed; its accounts are public",
    arguments: [],
    options: [{ flags: "--port <port>", about: "the port of the node, 0 for any", default: String(DEV_PORT) }],
    store: "none",
    examples: ["koine sage chain dev"],
    async run(_given, { options, untilStopped }) {
      const chain = await startDevChain(checkedPort(options["port"]));
      try {
        const registry = await deployRegistry(chain.rpc);
        const document = { rpc: chain.rpc, registry, network: "local", chainId: NETWORKS.local, pid: chain.pid };
        await untilStopped({
          text: `rpc       ${chain.rpc}\nregistry  ${registry}\nnetwork   local (${NETWORKS.local})`,
          document,
        });
      } finally {
        await chain.stop();
      }
      return undefined;
    },
  },
];

interface Change {
  readonly more?: ProtocolCommand["arguments"];
  readonly options?: readonly CommandOption[];
  readonly examples: readonly string[];
  run(registrar: Registrar, given: readonly string[], tools: CommandTools): Promise<Steps>;
}

/** A command that changes the record of the identity in a file. */
function changing(words: string, summary: string, { more = [], options = [], examples, run }: Change): ProtocolCommand {
  return {
    words,
    summary,
    arguments: [FILE, ...more],
    options: [...options, ...REGISTRY_OPTIONS],
    store: "optional",
    examples,
    async run([file = "", ...given], tools) {
      const { did } = await openIdentity(file);
      const change = async (registry: Registry): Promise<CommandOutput> =>
        recorded(did, await run(await Registrar.open(file, () => registry), given, tools));
      return withRegistry(checkedSageDid(did), tools, change);
    },
  };
}

function recorded(did: string, steps: Steps): CommandOutput {
  const lines = steps.map(({ what, receipt }) =>
    receipt.kind === "chain"
      ? `${what.padEnd(11)}  transaction ${receipt.transaction}  block ${receipt.block}`
      : `${what.padEnd(11)}  record ${receipt.record} of the embedded registry`,
  );
  const document = { did, steps: steps.map(({ what, receipt }) => ({ operation: what, ...receipt })) };
  return { text: [did, ...(lines.length === 0 ? ["nothing to record"] : lines)].join("\n"), document };
}

function shown(info: AgentInfo): CommandOutput {
  const { did, active, version, endpoint, source } = info;
  const from =
    source.kind === "chain"
      ? `${source.profile === undefined ? "" : `${source.profile} `}contract ${source.registry} on chain ${source.chainId}, block ${source.block}`
      : `embedded registry, record ${source.record}; no chain vouches for it`;
  const keys = info.keys.map(({ id, kind, bytes, state, addedAt, endsAt }) => ({
    id,
    kind,
    state,
    fingerprint: keyFingerprint({ kind, bytes }),
    added: new Date(addedAt).toISOString(),
    ...(endsAt === undefined ? {} : { ends: new Date(endsAt).toISOString() }),
  }));
  const lines = [
    did,
    `${active ? "active" : "deactivated"}, version ${version}`,
    `endpoint  ${endpoint || "none"}`,
    `from      ${from}`,
  ];
  lines.push(...keys.map(({ id, kind, state, fingerprint }) => `${id.slice(did.length)}  ${kind}  ${state}  ${fingerprint}`));
  const document: JsonObject = { did, registered: true, active, version, endpoint, source: { ...source }, keys };
  return { text: lines.join("\n"), document };
}

function judged({ did, key, algorithm, open }: LegacyVerification): CommandOutput {
  const left = open.length === 0 ? "nothing" : open.join(", ");
  return {
    text: `valid, signed by ${key} (${algorithm})\nnot protected by the signature: ${left}`,
    document: { valid: true, did, key, algorithm, open: [...open] },
  };
}

function checkedTime(text: Maybe<string>): number {
  const time = text === undefined ? Date.now() : Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw usage("--at takes a time such as 2026-02-20T10:00:00Z");
}

function networkOf(name: Maybe<string>): Network {
  if (name !== undefined && isNetwork(name)) return name;
  throw usage(`there is no network ${JSON.stringify(name?.slice(0, 50))}; known are ${Object.keys(NETWORKS).join(", ")}`);
}

function checkedEndpoint(url: string): string {
  if (url === "" || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return url;
  throw usage(`the endpoint ${JSON.stringify(url.slice(0, 200))} is not a URL; write https://host/path`);
}

function checkedOverlap(text: Maybe<string>): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= REGISTRY_LIMITS.overlapSeconds) return seconds;
  throw usage(`--overlap takes 0 to ${REGISTRY_LIMITS.overlapSeconds} seconds`);
}

function checkedPort(text: Maybe<string>): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usage("--port takes 0 to 65535");
}

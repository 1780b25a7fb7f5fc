// Builds the peers of the interop tests that are compiled, once, into the user's cache: npm run peers. A build is reused by every clone
// until its source or its pins change.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TESTS = join(dirname(fileURLToPath(import.meta.url)), "..", "test", "interop");
const BUILD_MS = 900_000;
/** The exit status of a build that lacks a command, as a shell has it. */
const NOT_FOUND = 127;

/** Each has a folder with its source and pins, and a command that writes the program to a path. */
const PEERS = {
  go: {
    files: ["go.mod", "go.sum", "main.go"],
    build: (program) => ["go", ["build", "-mod=readonly", "-trimpath", "-o", program, "."]],
  },
  "sage-go": {
    files: ["go.mod", "go.sum", "main.go"],
    build: (program) => ["go", ["build", "-mod=readonly", "-trimpath", "-o", program, "."]],
  },
  /** A contract, not a program: its source is in the module of the peer before it. */
  "agent-card": {
    files: ["compile.mjs", "../sage-go/go.sum"],
    build: (program) => [process.execPath, ["compile.mjs", program]],
  },
  grpcurl: {
    files: ["go.mod", "go.sum"],
    build: (program) => [
      "go",
      ["build", "-mod=readonly", "-trimpath", "-o", program, "github.com/fullstorydev/grpcurl/cmd/grpcurl"],
    ],
  },
  rust: {
    files: ["Cargo.toml", "Cargo.lock", "src/main.rs"],
    build: (program) => ["cargo", ["build", "--quiet", "--locked", "--target-dir", `${program}.target`]],
    /** Cargo names the program itself. */
    built: (program) => join(`${program}.target`, "debug", "koine-peer"),
  },
};

/** Where the program of a peer is, or will be. */
export function peerProgram(name) {
  const hash = createHash("sha256");
  for (const file of PEERS[name].files) hash.update(readFileSync(join(TESTS, name, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(cache, "koine", "peers", `${name}-${hash.digest("hex").slice(0, 12)}`);
}

/** Builds a peer if it is missing. Returns what is missing for that, if anything is. */
function buildPeer(name) {
  const program = peerProgram(name);
  if (existsSync(program)) return undefined;
  mkdirSync(dirname(program), { recursive: true });
  console.log(`interop: building the ${name} peer into ${program}`);
  const { build, built = (path) => path } = PEERS[name];
  const [command, args] = build(`${program}.new`);
  const { error, status, stderr } = spawnSync(command, args, { cwd: join(TESTS, name), encoding: "utf8", timeout: BUILD_MS });
  if (error?.code === "ENOENT") return `${command} was not found`;
  if (status === NOT_FOUND) return stderr.trim();
  if (status !== 0) throw new Error(`interop: the ${name} peer could not be built\n${error?.message ?? ""}${stderr}`);
  // In one step: a build that was interrupted leaves nothing that looks finished.
  renameSync(built(`${program}.new`), program);
  return undefined;
}

/** Builds all peers. In CI a missing toolchain is an error. */
export function buildPeers() {
  for (const name of Object.keys(PEERS)) {
    const missing = buildPeer(name);
    if (missing === undefined) continue;
    if (process.env.CI === "true") throw new Error(`interop: ${missing}`);
    console.error(`interop: the tests with the ${name} peer are skipped: ${missing}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildPeers();

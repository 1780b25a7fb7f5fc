// Compiles every TypeScript snippet of README.md and docs/*.md with --strict, declaration files included, against the packed package
// in a project outside the repository; then runs the README sample there. Also checks that relative links lead to files.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { snippetsOf } from "./snippets.mjs";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "examples/README.md",
  ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

/** What npm would install, without asking a registry: the packed files, and links to the dependencies that are here. */
function newProject() {
  const folder = mkdtempSync(join(tmpdir(), "koine-snippets-"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const tarball = execFileSync("npm", pack, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  execFileSync("tar", ["xzf", tarball], { cwd: folder });
  execFileSync("mv", ["package", join("node_modules", "koine")], { cwd: folder });
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), "@types/node"]) {
    const from = resolve("node_modules", name);
    if (!existsSync(from)) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(from, join(modules, name));
  }
  // What `npm init -y` writes.
  writeFileSync(join(folder, "package.json"), '{ "name": "fresh", "version": "1.0.0", "type": "commonjs" }\n');
  return folder;
}

function compile(folder, snippets) {
  const names = snippets.map((lines, index) => {
    const name = `s${index}.mts`;
    writeFileSync(join(folder, name), [...lines.map(({ code }) => code), "export {};"].join("\n"));
    return name;
  });
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node", "--pretty", "false"];
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, ...names], { cwd: folder, encoding: "utf8" });
  return stdout.replace(/^s(\d+)\.mts\((\d+),\d+\)/gm, (_, index, line) => snippets[index][line - 1]?.at ?? `snippet ${index}`);
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** The sample as a user of a fresh project saves it, and the package as CommonJS loads it. */
async function runSample(folder) {
  const sample = snippetsOf("README.md")[0].map(({ code }) => code);
  writeFileSync(join(folder, "sample.mjs"), sample.join("\n").replaceAll("8080", String(await freePort())));
  writeFileSync(join(folder, "sample.cjs"), 'import("koine").then(({ serve }) => console.log("by import", typeof serve));\n');
  writeFileSync(join(folder, "required.js"), 'console.log("by require", typeof require("koine").serve);\n');
  const wanted = {
    "sample.mjs": /^a2a 1\.0 « good morning »\n(task|status|artifact|message)\n/,
    "sample.cjs": /^by import function\n$/,
    "required.js": /^by require function\n$/,
  };
  return Object.entries(wanted).flatMap(([name, output]) => {
    const { stdout, stderr } = spawnSync(process.execPath, [name], { cwd: folder, encoding: "utf8", timeout: 30_000 });
    return output.test(stdout) ? [] : [`${name} printed:\n${stdout}${stderr}`];
  });
}

/** Links of a page that lead nowhere, and paths in code that are not there. */
function brokenLinks(page) {
  const text = readFileSync(page, "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link]) => link).filter((link) => !/^[a-z]+:/.test(link));
  const lost = links.filter((link) => !existsSync(join(dirname(page), decodeURI(link))));
  const paths = [...text.matchAll(/`((?:src|apps|conformance|bench|test|tools|training|examples)\/[\w./-]+)`/g)].map(
    ([, path]) => path,
  );
  return [...lost, ...paths.filter((path) => !existsSync(path))].map((target) => `${page}: ${target} does not exist`);
}

const problems = PAGES.flatMap(brokenLinks);
const snippets = PAGES.flatMap(snippetsOf);
const folder = newProject();
try {
  const errors = compile(folder, snippets).trim();
  if (errors !== "") problems.push(errors);
  problems.push(...(await runSample(folder)));
} finally {
  rmSync(folder, { recursive: true });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${snippets.length} snippets compile, the README sample runs, links of ${PAGES.length} pages resolve`);

import { escaped, pageHtml, tableHtml } from "../../../harness/html.js";
import { renderTable, type Table } from "../../../harness/table.js";
import { tableMarkdown } from "../../report/markdown.js";
import { STYLE } from "../../report/style.js";
import type { SafetyManifest } from "../folder.js";
import type { SafetyResult } from "../result/result.js";
import { safetyRouterTable } from "./router-table.js";
import { matrixTable, rateTable, safetyOrigin, variantTable } from "./tables.js";

const TITLE = "safety: what each protocol refuses";
const CHECKS: { readonly [name in keyof SafetyResult["checks"]]: string } = {
  open: "The open control fails every probe",
  hardened: "The hardened control passes every probe",
  legitimate: "Legitimate requests get through",
};

/** The result as text for a terminal: checks first, then the matrix and the rates. */
export function renderSafety(result: SafetyResult): string {
  const { status, marks, checks } = result;
  const judged = Object.values(checks).map(({ passed, statement }) => `${passed ? "passed" : "FAILED"}  ${statement}`);
  const router = safetyRouterTable(result);
  const tables = [matrixTable(result), ...(router === undefined ? [] : [router]), rateTable(result)].map(
    ({ head, rows, note }) => `${renderTable(head, rows)}\n${note ?? ""}`,
  );
  return [`status: ${status}`, ...marks.map((mark) => `! ${mark}`), "", ...judged, "", tables.join("\n\n"), ""].join("\n");
}

export function reportMarkdown(result: SafetyResult, manifest: SafetyManifest): string {
  const { status, marks, checks, targets } = result;
  const warning =
    status === "complete" && marks.length === 0
      ? []
      : [[`> **${status.toUpperCase()}**`, ...marks.map((mark) => `> - ${mark}`)].join("\n")];
  const judged = Object.entries(checks).map(
    ([name, { passed, statement }]) => `- ${passed ? "passed" : "**FAILED**"} · ${name}: ${statement}`,
  );
  const router = safetyRouterTable(result);
  const tables = [
    matrixTable(result),
    ...(router === undefined ? [] : [router]),
    rateTable(result),
    ...targets.map(({ target }) => variantTable(result, target.id)),
    safetyOrigin(manifest),
  ];
  const parts = [
    `# ${TITLE}`,
    ...warning,
    "## Can it be believed?",
    judged.join("\n"),
    ...tables.flatMap((table) => [`## ${table.title}`, tableMarkdown(table)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

export function reportHtml(result: SafetyResult, manifest: SafetyManifest): string {
  const { targets } = result;
  const router = safetyRouterTable(result);
  const body = `<a class="skip" href="#content">Skip to the results</a>
<header><h1>${escaped(TITLE)}</h1>
<p class="lead">${escaped(`${targets.length} targets, ${result.plan.config.probes.length} probes, ${manifest.machine.cpu}, ${manifest.startedAt.slice(0, 10)}.`)}</p>
${marksHtml(result)}</header>
<main id="content">
<section aria-labelledby="controls"><h2 id="controls">Can it be believed?</h2>
<p>Before any number: do the probes break what is open, does what is hardened withstand them, and is the target alive while it is attacked?</p>
<ul class="checks">${checksHtml(result)}</ul></section>
<section aria-labelledby="matrix"><h2 id="matrix">Security matrix</h2>${scrolling(matrixTable(result))}${router === undefined ? "" : scrolling(router)}</section>
<section aria-labelledby="rates"><h2 id="rates">Block and success rates</h2>${scrolling(rateTable(result))}</section>
<section aria-labelledby="attempts"><h2 id="attempts">Attempts and evidence</h2>
${targets.map(({ target }) => attemptsHtml(result, target.id)).join("\n")}</section>
<section aria-labelledby="origin"><h2 id="origin">Origin</h2>${scrolling(safetyOrigin(manifest))}</section>
</main>
<footer><p>Every number is computed from the raw events beside this file; <code>koine bench verify</code> computes them again.</p></footer>`;
  return pageHtml({ title: TITLE, style: STYLE, body });
}

function marksHtml({ status, marks }: SafetyResult): string {
  if (status === "complete" && marks.length === 0) return "";
  const list = marks.map((mark) => `<li>${escaped(mark)}</li>`).join("");
  return `<div class="mark${status === "invalid" ? " bad" : ""}" role="alert" data-status="${status}"><strong>${status}</strong><ul>${list}</ul></div>`;
}

function checksHtml({ checks }: SafetyResult): string {
  return Object.entries(checks)
    .map(([name, { passed, statement }]) => {
      const title = CHECKS[name as keyof typeof CHECKS]; // its own keys
      return `<li class="check${passed ? "" : " failed"}"><b><span>${escaped(title)}</span><span class="result">${passed ? "✓ passed" : "✗ failed"}</span></b>${escaped(statement)}</li>`;
    })
    .join("");
}

function scrolling(table: Table): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escaped(table.title)}">${tableHtml(table)}</div>`;
}

/** The table of a target, and a link to every file of its evidence. */
function attemptsHtml(result: SafetyResult, target: string): string {
  const files = result.probes
    .filter((each) => each.target === target)
    .flatMap(({ variants }) => variants.flatMap(({ evidence }) => evidence));
  const links = files.map((file) => `<li><a href="${escaped(encodeURI(file))}">${escaped(file)}</a></li>`).join("");
  return `<details class="numbers"><summary>${escaped(target)}</summary>${scrolling(variantTable(result, target))}<details><summary>${files.length} files of evidence</summary><ul>${links}</ul></details></details>`;
}

// Takes docs/images/page.png: runs the demo on free ports and takes a screenshot of the page. Needs Chromium (KOINE_CHROMIUM, else
// /usr/bin/chromium). Run by hand after the page changed: node tools/take-screenshot.mjs
import { spawn } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FILE = "docs/images/page.png";
const LIMIT_BYTES = 200_000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const demo = spawn(process.execPath, ["dist/apps/cli/main.js", "demo", "--port", "0", "--no-open", "-o", "json"], {
  stdio: ["ignore", "pipe", "inherit"],
});

async function pageUrl() {
  for await (const line of createInterface({ input: demo.stdout })) {
    const found = /http:\/\/[^"]*\/koine\/#token=[^"]*/.exec(line);
    if (found !== null) return found[0];
  }
  throw new Error("the demo ended without printing the address of its page");
}

try {
  const url = await pageUrl();
  demo.stdout.resume();
  await sleep(12_000); // traffic from every caller
  const executablePath = process.env.KOINE_CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1120, height: 660 } });
  await page.goto(url);
  await sleep(8_000); // rates are averages over seconds
  mkdirSync("docs/images", { recursive: true });
  await page.screenshot({ path: FILE });
  await browser.close();
} finally {
  demo.kill("SIGINT");
}
const { size } = statSync(FILE);
console.log(`${FILE}: ${size} bytes`);
if (size > LIMIT_BYTES) process.exitCode = 1;

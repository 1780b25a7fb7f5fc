// Prints "PASSED FAILED" of a vitest JSON report. Skipped tests count as failed, and so does a run that failed without a failed test.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const broken = !report.success && report.numFailedTests === 0 ? 1 : 0;
console.log(report.numPassedTests, report.numFailedTests + report.numPendingTests + broken);

/** The report of a protocol benchmark: a page for people, its tables as Markdown, and a page for the time of the run. All are pure functions of the result. */

export { comparisonHtml, comparisonMarkdown } from "./comparison.js";
export { reportMarkdown } from "./markdown.js";
export { reportHtml } from "./page.js";
export { type Running, runningHtml } from "./running.js";

import { foldCase } from "../text/fold-case.js";

/**
 * The wordings of performance claims, in all inflections. A rationale explains a choice by requirements and capabilities;
 * performance is for measurements.
 */
const CLAIMS: readonly string[] = [
  "latenc(?:y|ies)",
  "throughputs?",
  "(?:ultra)?fast(?:er|est|ness)?",
  "slow(?:s|ed|er|est|ing|ly|ness)?",
  "speed(?:s|y|ier|iest|ily|ups?|ed|ing)?",
  "sped",
  "quick(?:er|est|ly|ness|en|ens|ened|ening)?",
  "rapid(?:ly|ity)?",
  "swift(?:er|est|ly|ness)?",
  "accelerat(?:e|es|ed|ing|ion|or|ors)",
  "(?:high-?)?perform(?:ance|ances|ant)",
  "(?:out|under)perform(?:s|ed|ing|ance)?",
  "benchmark(?:s|ed|ing)?",
  "(?:milli|micro|nano)?seconds",
  "(?:milli|micro|nano)second",
  "sub-?second",
  "per[ -](?:second|minute)",
  "msecs?|ms|[\\u00b5\\u03bc\\u039c]s|usecs?|qps|tps|rps|rtts?",
  "per ?cent(?:s|age|ages|iles?)?",
  "(?:success|failure|error|hit|completion|recovery)[ -]rates?",
  "(?:response|recovery|round-?trip|answer|turnaround)[ -]times?",
  "overheads?",
  "(?:in|cost-)?efficien(?:t|tly|cy|cies)",
  "bandwidths?",
  "cheap(?:er|est|ly|ness)?",
  "jitters?",
];

const CLAIM = new RegExp(`(?<![\\p{L}\\p{M}])(?:${CLAIMS.join("|")})(?![\\p{L}\\p{M}])|[%‰]`, "u");

/** The first words that claim something about performance, if any do. */
export function performanceClaimIn(text: string): string | undefined {
  const found = CLAIM.exec(foldCase(text));
  return found === null ? undefined : text.slice(found.index, found.index + found[0].length);
}

/** What the paper prints about this scenario (tables 3b and 7), and what its published code shows about it. */

export interface PaperRow {
  readonly name: string;
  readonly prePercent: number;
  readonly postPercent: number;
  readonly preLatencyS: number;
  readonly postLatencyS: number;
  readonly recoveryS: number;
}

export const PAPER_ROWS: readonly PaperRow[] = [
  { name: "ACP", prePercent: 14.76, postPercent: 13.64, preLatencyS: 4.3776, postLatencyS: 4.1851, recoveryS: 8.0482 },
  { name: "A2A", prePercent: 14.74, postPercent: 14.57, preLatencyS: 4.3399, postLatencyS: 4.1855, recoveryS: 8.0027 },
  { name: "ANP", prePercent: 14.88, postPercent: 12.94, preLatencyS: 4.3428, postLatencyS: 4.1826, recoveryS: 8.0033 },
  { name: "Agora", prePercent: 14.91, postPercent: 12.12, preLatencyS: 4.3311, postLatencyS: 4.1799, recoveryS: 8.0026 },
];

/** Each with the reason why it cannot be compared, and what is done here instead. */
export const PAPER_PROBLEMS: readonly (readonly [figure: string, problem: string, here: string])[] = [
  [
    "recovery of 8.00 to 8.05 s",
    "A timer: reconnection is tried 5 s after the fault, start-up sleeps 1 s, and the test is polled every 2 s, so only 6, 8, 10 … s can come out.",
    "From SIGKILL to the first right answer through the victim, under continuous traffic. The delay before the restart is a part of its own.",
  ],
  [
    "agents are killed",
    "No process ends: all agents are tasks of one process. Three of the four protocols go on listening and answering.",
    "Each agent is a process. Its death is verified (the process is gone, the port refuses) before the delay counts.",
  ],
  [
    "14.7 to 14.9 % answers found",
    "The search in the ring never works; this is the share of questions whose own agent holds the answer (13.7 % in its data), and answers are not compared with the right ones.",
    "Messages between agents are counted on both sides and on the wire. Every answer is judged. The local share is printed beside it.",
  ],
  [
    "retention of 81 to 99 %",
    "The time of the fault is overwritten by each storm, so the window before contains earlier storms; each task is counted twice.",
    "The windows of its appendix E.2.1 for every storm, with those of D.4 beside them.",
  ],
  [
    "latency of 4.2 to 4.4 s",
    "Contains records of no duration, and a pause of 14.4 s that imitates a timeout.",
    "Median and mean of the questions that ended in each window.",
  ],
  [
    "reconnect bytes, duplicate work",
    "Constants in the source: 100 bytes per attempt, and 0.",
    "Bytes of the sockets; questions by their idempotency key.",
  ],
];

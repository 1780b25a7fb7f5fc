/** What the paper states about its Streaming Queue, by protocol: tables 3c, 4, 5 and 10. Seconds, except where a name says otherwise. */
export interface PaperQueue {
  readonly durationMin: number;
  readonly mean: number;
  readonly interval: readonly [number, number];
  readonly min: number;
  readonly max: number;
  readonly sd: number;
  /** Adapter milliseconds per message, by number of workers. */
  readonly adapterMs: Readonly<Record<number, number>>;
}

export const PAPER_QUEUE: Readonly<Record<string, PaperQueue>> = {
  acp: {
    durationMin: 40.28,
    mean: 9.663,
    interval: [9.597, 9.729],
    min: 6.88,
    max: 14.24,
    sd: 1.08,
    adapterMs: { 4: 0.13, 8: 0.14, 16: 0.16, 32: 0.18 },
  },
  a2a: {
    durationMin: 40.45,
    mean: 9.698,
    interval: [9.629, 9.77],
    min: 6.94,
    max: 15.13,
    sd: 1.13,
    adapterMs: { 4: 1.2, 8: 2.5, 16: 5.8, 32: 10.5 },
  },
  anp: {
    durationMin: 47.38,
    mean: 11.364,
    interval: [11.013, 11.716],
    min: 0.24,
    max: 50.1,
    sd: 5.73,
    adapterMs: { 4: 1.6, 8: 3.1, 16: 7.2, 32: 14.1 },
  },
  agora: {
    durationMin: 54.97,
    mean: 13.135,
    interval: [12.819, 13.444],
    min: 0.52,
    max: 28.21,
    sd: 5.09,
    adapterMs: { 4: 4, 8: 8.3, 16: 19.2, 32: 33.6 },
  },
};

/** Table 10: the first minus the second. The paper leaves one of the six pairs out. */
export const PAPER_PAIRS: readonly {
  readonly a: string;
  readonly b: string;
  readonly difference: number;
  readonly cohensD: number;
  readonly p: string;
}[] = [
  { a: "acp", b: "a2a", difference: -0.035, cohensD: -0.03, p: "0.47" },
  { a: "acp", b: "anp", difference: -1.701, cohensD: -0.41, p: "< 0.0001" },
  { a: "acp", b: "agora", difference: -3.472, cohensD: -0.94, p: "< 0.0001" },
  { a: "a2a", b: "anp", difference: -1.666, cohensD: -0.4, p: "< 0.0001" },
  { a: "a2a", b: "agora", difference: -3.436, cohensD: -0.93, p: "< 0.0001" },
];

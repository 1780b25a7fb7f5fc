/** Figures of the paper's table 3a, by protocol and for its router: measured by its authors, on other questions and with another judge. */
export const PAPER_DOCQA: Readonly<
  Record<string, { readonly quality: number; readonly success: number; readonly trialsMs: readonly number[] }>
> = {
  acp: { quality: 2.27, success: 5.25, trialsMs: [15.3, 13.64, 14.75, 16.22, 12.75] },
  a2a: { quality: 2.51, success: 9.29, trialsMs: [25.38, 20.64, 28.19, 21.65, 21.36] },
  anp: { quality: 2.14, success: 7.28, trialsMs: [39.01, 54.74, 27.6, 21.86, 34.48] },
  // It gives no trials of its router.
  router: { quality: 2.5, success: 9.9, trialsMs: [] },
  agora: { quality: 2.33, success: 6.27, trialsMs: [29.3, 21.83, 30.49, 22.41, 35.5] },
};

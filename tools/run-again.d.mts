export interface TestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
export function failedFiles(report: TestReport): { readonly name: string; readonly error: string }[];
export function merged(first: TestReport, second: TestReport): TestReport;
export function runAgain(file: string, run: (args: readonly string[]) => void, say?: (line: string) => void): void;

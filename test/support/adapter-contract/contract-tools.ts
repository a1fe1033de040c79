/** Functions of a test runner, such as Vitest, Jest or Bun. */
export interface ContractTools {
  readonly describe: (name: string, body: () => void) => void;
  readonly test: ContractTest;
  readonly expect: (actual: unknown) => ContractExpectation;
}

/** The function that registers a test. */
export interface ContractTest {
  (name: string, body: () => Promise<void>): void;
  readonly skip: (name: string, body: () => Promise<void>) => void;
}

/** The matchers that the test suites use. */
export interface ContractExpectation {
  toBe(expected: unknown): void;
  toBeUndefined(): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toContain(expected: unknown): void;
  toHaveLength(expected: number): void;
  toBeGreaterThan(expected: number): void;
  toBeGreaterThanOrEqual(expected: number): void;
  toBeLessThan(expected: number): void;
  toBeLessThanOrEqual(expected: number): void;
  readonly rejects: { toBe(expected: unknown): Promise<void>; toMatchObject(expected: object): Promise<void> };
}

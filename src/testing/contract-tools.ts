/** Functions of a test runner, such as Vitest, Jest or Bun. */
export interface ContractTools {
  readonly describe: (name: string, body: () => void) => void;
  readonly test: ContractTest;
  readonly expect: (actual: unknown) => ContractExpectation;
}

/** Registers a test. */
export interface ContractTest {
  (name: string, body: () => Promise<void>): void;
  readonly skip: (name: string, body: () => Promise<void>) => void;
}

/** The matchers used by the suites. */
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
  /** Of a promise. */
  readonly rejects: { toBe(expected: unknown): Promise<void>; toMatchObject(expected: object): Promise<void> };
}

import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** The serious and critical issues found by axe, one line each: of all its rules, or of those named. */
export async function seriousIssues(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Through the browser's own debugger: the page itself may run no script that is not the viewer's.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const chosen = rules === undefined ? { rules: { 'target-size': { enabled: true } } } : { runOnly: rules };
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    `axe.run(${JSON.stringify({ ...chosen, resultTypes: ['violations'] })})`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .slice(0, 3)
          .map(({ target }) => target.join(' '))
          .join(' | ')}`,
    );
}

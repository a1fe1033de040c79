import type { Locator, Page } from 'playwright-core';

/** The hand of a user: counts the steps of a task and refuses one more than its budget. */
export class Hand {
  readonly page: Page;
  #left: number;

  constructor(page: Page, budget: number) {
    this.page = page;
    this.#left = budget;
  }

  async click(target: Locator): Promise<void> {
    this.#step();
    await target.click();
  }

  async choose(name: string, value: string): Promise<void> {
    this.#step();
    await this.page.getByLabel(name).selectOption(value);
  }

  async pointAt(x: number, y: number): Promise<void> {
    this.#step();
    await this.page.mouse.move(x, y);
  }

  #step(): void {
    if (this.#left === 0) throw new Error('this step is beyond the budget of the task');
    this.#left -= 1;
  }
}

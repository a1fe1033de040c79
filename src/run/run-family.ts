import { addUsage, type BudgetUsage } from '../base/budget.ts';

/** What a run's family asks of the run. */
export interface FamilyMember {
  /** Called when the deadline that the run has from its parent changes. */
  followDeadline(deadlineAtMs: number | null): void;
  /** Called when a run below ended. @param usage  of it and all below it, since it last ended */
  childEnded(childRunId: string, usage: BudgetUsage): void;
}

/** What a member is in its family. */
export interface FamilyPlace {
  readonly parent?: RunFamily | undefined;
  /** It draws on its parent's budget: it has none of its own. */
  readonly sharesBudget: boolean;
  /** A deadline of its own, Unix milliseconds: the earlier of both counts. */
  readonly ownDeadlineAtMs?: number | undefined;
  /** What runs below used before, for a run that is continued. */
  readonly below?: BudgetUsage | undefined;
}

/**
 * One run among those above and below it in this process: adds up who used what of a shared budget, and passes a new
 * deadline on. What it says reaches the records as inputs, so a replay of each run alone gives the same.
 *
 * Cost: O(depth) for each change of a run's usage.
 */
export class RunFamily {
  readonly #place: FamilyPlace;
  readonly #member: FamilyMember;
  readonly #open = new Set<RunFamily>();
  #own: BudgetUsage = {};
  #below: BudgetUsage;
  #reported: BudgetUsage = {};
  #followsDeadline: boolean;

  constructor(member: FamilyMember, place: FamilyPlace) {
    this.#member = member;
    this.#place = place;
    this.#below = place.below ?? {};
    this.#followsDeadline = place.parent !== undefined;
    if (place.parent !== undefined) place.parent.#open.add(this);
  }

  /** What the run and all runs below it used. */
  get usage(): BudgetUsage {
    return addUsage(this.#own, this.#below);
  }

  /** What others used of the budget that this run draws on; undefined while no other run did. */
  get shared(): BudgetUsage | undefined {
    const shared = difference(this.#budgetOwner.usage, this.#own);
    return Object.values(shared).some((amount) => amount > 0) ? shared : undefined;
  }

  get #budgetOwner(): RunFamily {
    const { parent, sharesBudget } = this.#place;
    return sharesBudget && parent !== undefined ? parent.#budgetOwner : this;
  }

  /** The run used something: `own` is all that it used so far. */
  used(own: BudgetUsage): void {
    const before = this.#own;
    if (own.calls === before.calls && own.tokens === before.tokens && own.costUsd === before.costUsd) return;
    this.#own = own;
    const more = difference(own, before);
    for (let above = this.#place.parent; above !== undefined; above = above.#place.parent) {
      above.#below = addUsage(above.#below, more);
    }
  }

  /** The run has another deadline; runs below that have theirs from it follow. */
  deadlineSet(deadlineAtMs: number | null): void {
    for (const child of this.#open) {
      if (!child.#followsDeadline) continue;
      child.#member.followDeadline(earlier(child.#place.ownDeadlineAtMs, deadlineAtMs));
    }
  }

  /** The run was given a deadline by name: it follows nobody's from now on. */
  leaveDeadline(): void {
    this.#followsDeadline = false;
  }

  /** The run ended. */
  ended(runId: string): void {
    const { parent } = this.#place;
    if (parent === undefined) return;
    parent.#open.delete(this);
    const { usage } = this;
    parent.#member.childEnded(runId, difference(usage, this.#reported));
    this.#reported = usage;
  }

  /** The run goes on after its end. */
  resumed(): void {
    const { parent } = this.#place;
    if (parent !== undefined) parent.#open.add(this);
  }
}

/** The earlier of two deadlines in Unix milliseconds; null where there is none. */
export function earlier(own: number | undefined, other: number | null): number | null {
  if (own === undefined || other === null) return own ?? other;
  return Math.min(own, other);
}

function difference(all: BudgetUsage, part: BudgetUsage): BudgetUsage {
  return addUsage(all, {
    ...(part.calls === undefined ? {} : { calls: -part.calls }),
    ...(part.tokens === undefined ? {} : { tokens: -part.tokens }),
    ...(part.costUsd === undefined ? {} : { costUsd: -part.costUsd }),
  });
}

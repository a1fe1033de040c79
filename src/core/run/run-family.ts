import { addUsage, BUDGET_PARTS, type BudgetUsage } from '../base/budget.ts';

export interface FamilyMember {
  followDeadline(deadlineAtMs: number | null): void;
  /** Called when a child run ended. `usage`: usage of the child and its descendants since the child last ended. */
  childEnded(childRunId: string, usage: BudgetUsage): void;
}

export interface FamilyPlace {
  readonly parent?: RunFamily | undefined;
  readonly sharesBudget: boolean;
  /** Unix milliseconds. The earlier of this deadline and the parent's deadline applies. */
  readonly ownDeadlineAtMs?: number | undefined;
  readonly below?: BudgetUsage | undefined;
}

/** Sums a shared budget and propagates deadlines, recorded as inputs for replay. Cost: O(depth) per change of usage. */
export class RunFamily {
  readonly #place: FamilyPlace;
  readonly #member: FamilyMember;
  readonly #open = new Set<RunFamily>();
  #ownUsage: BudgetUsage = {};
  #childUsage: BudgetUsage;
  #reported: BudgetUsage = {};
  #followsDeadline: boolean;

  constructor(member: FamilyMember, place: FamilyPlace) {
    this.#member = member;
    this.#place = place;
    this.#childUsage = place.below ?? {};
    this.#followsDeadline = place.parent !== undefined;
    if (place.parent !== undefined) place.parent.#open.add(this);
  }

  get usage(): BudgetUsage {
    return addUsage(this.#ownUsage, this.#childUsage);
  }

  get shared(): BudgetUsage | undefined {
    const sharedUsage = usageDifference(this.#budgetOwner.usage, this.#ownUsage);
    return Object.values(sharedUsage).some((amount) => amount > 0) ? sharedUsage : undefined;
  }

  get #budgetOwner(): RunFamily {
    const { parent, sharesBudget } = this.#place;
    return sharesBudget && parent !== undefined ? parent.#budgetOwner : this;
  }

  used(ownUsage: BudgetUsage): void {
    const usageBefore = this.#ownUsage;
    if (
      ownUsage.calls === usageBefore.calls &&
      ownUsage.tokens === usageBefore.tokens &&
      ownUsage.costUsd === usageBefore.costUsd
    )
      return;
    this.#ownUsage = ownUsage;
    const addedUsage = usageDifference(ownUsage, usageBefore);
    for (let parent = this.#place.parent; parent !== undefined; parent = parent.#place.parent) {
      parent.#childUsage = addUsage(parent.#childUsage, addedUsage);
    }
  }

  deadlineSet(deadlineAtMs: number | null): void {
    for (const child of this.#open) {
      if (!child.#followsDeadline) continue;
      child.#member.followDeadline(earlier(child.#place.ownDeadlineAtMs, deadlineAtMs));
    }
  }

  /** Stops inheriting the parent's deadline, because the run now has its own. */
  leaveDeadline(): void {
    this.#followsDeadline = false;
  }

  ended(runId: string): void {
    const { parent } = this.#place;
    if (parent === undefined) return;
    parent.#open.delete(this);
    const { usage } = this;
    parent.#member.childEnded(runId, usageDifference(usage, this.#reported));
    this.#reported = usage;
  }

  resumed(): void {
    const { parent } = this.#place;
    if (parent !== undefined) parent.#open.add(this);
  }
}

export function earlier(ownValue: number | undefined, limit: number | null): number | null {
  if (ownValue === undefined || limit === null) return ownValue ?? limit;
  return Math.min(ownValue, limit);
}

function usageDifference(total: BudgetUsage, part: BudgetUsage): BudgetUsage {
  const negated = BUDGET_PARTS.flatMap((name) => (part[name] === undefined ? [] : [[name, -part[name]] as const]));
  return addUsage(total, Object.fromEntries(negated));
}

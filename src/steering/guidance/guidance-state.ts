/** How often one provider spoke. */
export interface GuidanceUse {
  /** The last turn in which it spoke. */
  readonly turn: number;
  /** Items in that turn. */
  readonly inTurn: number;
  /** Items in the run. */
  readonly inRun: number;
}

/** What the caps count. Plain JSON, bounded by the number of providers. */
export interface GuidanceState {
  /** The turn of the last evaluation that produced something. */
  readonly turn: number;
  /** Items of all providers in that turn. */
  readonly inTurn: number;
  /** By provider name. */
  readonly providers: Readonly<Record<string, GuidanceUse>>;
}

/** Nothing was said yet. */
export const EMPTY_GUIDANCE_STATE: GuidanceState = { turn: -1, inTurn: 0, providers: {} };

/** How often `provider` spoke; undefined when it never did. */
export function guidanceUse(state: GuidanceState, provider: string): GuidanceUse | undefined {
  return Object.hasOwn(state.providers, provider) ? state.providers[provider] : undefined;
}

/** Items of all providers in `turn`. */
export function itemsInTurn(state: GuidanceState, turn: number): number {
  return state.turn === turn ? state.inTurn : 0;
}

/** The state after `provider` said one more item in `turn`. */
export function countItem(state: GuidanceState, provider: string, turn: number): GuidanceState {
  const before = guidanceUse(state, provider);
  const use: GuidanceUse = {
    turn,
    inTurn: (before?.turn === turn ? before.inTurn : 0) + 1,
    inRun: (before?.inRun ?? 0) + 1,
  };
  return { turn, inTurn: itemsInTurn(state, turn) + 1, providers: { ...state.providers, [provider]: use } };
}

/** Defaults of the steering options. The configuration and its schema also use them. */
export const STEERING_DEFAULTS = { providerTimeLimitMs: 50, maxGuidancePerTurn: 3 } as const;

/** Defaults of `GuidanceProviderConfig`. */
export const GUIDANCE_DEFAULTS = { maxPerTurn: 3, minConfidence: 0.5, cooldownTurns: 0 } as const;

#!/usr/bin/env bash
# Tries a configuration on recorded runs: the exit code is that of `coxswain backtest`, 1 where a gate is not kept.
set -uo pipefail
source "$(dirname "$0")/summary.sh"

options=()
[ -n "$CONFIG" ] && options+=(--config "$CONFIG")
[ -n "$MAX_FALSE_RATE" ] && options+=(--max-false-rate "$MAX_FALSE_RATE")
[ -n "$MIN_RECALL" ] && options+=(--min-recall "$MIN_RECALL")
[ -n "$MAX_ADVICE" ] && options+=(--max-advice-per-100-calls "$MAX_ADVICE")
mapfile -t runs < <(lines "$RUNS")
code=0
coxswain backtest "${options[@]}" -- "${runs[@]}" >"$OUT/backtest.txt" 2>"$OUT/backtest-problems.txt" || code=$?
if [ "$code" = 0 ]; then verdict='every gate kept'; else verdict="failed with exit code $code"; fi
summary "Steering configuration on recorded runs: $verdict" "$OUT/backtest-problems.txt" "$OUT/backtest.txt"
exit "$code"

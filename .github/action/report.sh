#!/usr/bin/env bash
# Shows what the agents of the job did. Never fails the job: what cannot be read stands in the summary.
set -uo pipefail
source "$(dirname "$0")/summary.sh"

mapfile -t transcripts < <(lines "$TRANSCRIPTS")
coxswain report --all -- "${transcripts[@]}" >"$OUT/report.txt" 2>"$OUT/report-problems.txt" || true
coxswain report --html "$OUT/report.html" -- "${transcripts[@]}" >/dev/null 2>&1 || true
coxswain report --json -- "${transcripts[@]}" >"$OUT/report.ndjson" 2>/dev/null || true
summary 'What the agents did' "$OUT/report.txt" "$OUT/report-problems.txt"

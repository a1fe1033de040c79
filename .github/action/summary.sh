# What both steps share. OUT: the folder of the artifact; PACKAGE: the package as npm takes it.
mkdir -p "$OUT"
export NO_COLOR=1

coxswain() { npx --yes --package="$PACKAGE" -- coxswain "$@"; }

# The lines of a text that are not empty, without blanks around them.
lines() { sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' -e '/^$/d' <<<"$1"; }

# summary TITLE FILE…: indented, so that nothing in a file can be Markdown; a summary holds 1 MiB.
summary() {
  { echo "## $1" && shift && echo && cat "$@" | head -c 500000 | sed 's/^/    /' && echo; } | tee -a "$GITHUB_STEP_SUMMARY"
}

# What the steps in Bash have in common. Each begins with `source .ci/shared.sh`, which goes to the root of the checkout and
# sets `root`, `tools` (what `.ci/tools/install` has installed), `work` (an empty directory of the step), and `marketplace`
# (the program: MARKETPLACE names it; otherwise it is what `cargo test` has built).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
tools=$root/.work/tools
work=$root/.work/steps/${STEP:-$(basename "$0")}
rm -rf "$work"
mkdir -p "$work"
marketplace=$(realpath "${MARKETPLACE:-target/debug/marketplace}")
PATH=$tools/python/bin:$tools/node_modules/.bin:$PATH
unset MARKETPLACE

part() { printf '\n-- %s\n' "$*"; }

# Ends everything that was started.
started=()
stop() {
    for process in "${started[@]}"; do kill "$process" && wait "$process" || true; done
    started=()
}
trap stop EXIT

# Starts a program that prints its address in its first line, and sets `url` to the address.
start() {
    local output line
    output=$work/output.${#started[@]}
    rm -f "$output"
    mkfifo "$output"
    "$@" >"$output" 2>"$output.err" &
    started+=($!)
    # The descriptor stays open, since the program goes on printing.
    exec {descriptor}<"$output"
    if ! read -r -t 60 line <&"$descriptor"; then
        cat "$output.err"
        exit 1
    fi
    url=${line#listening on }
}

# Starts a new demo market, with these options, and sets `url` to its address.
start_market() { start "$marketplace" serve --demo --listen 127.0.0.1:0 "$@"; }

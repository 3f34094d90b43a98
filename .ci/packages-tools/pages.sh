# Runs the commands that the pages of the packages print. A step sources it after `.ci/shared.sh`.
#
# `checkout` is a copy of what the commands need of a checkout. In it, `cargo build --release` copies the program that has been
# built already.
checkout=$work/checkout
mkdir -p "$checkout" "$work/bin"
cp -rL packages examples "$checkout/"
rm -rf "$checkout"/packages/node/node_modules
cat >"$work/bin/cargo" <<END
#!/usr/bin/env bash
set -euo pipefail
if [ "\$*" != "build --release" ]; then echo "no program for: cargo \$*" >&2 && exit 1; fi
mkdir -p target/release
strip -o target/release/marketplace "$marketplace"
END
chmod +x "$work/bin/cargo"
PATH=$work/bin:$PATH

# Prints the commands of a block of a page: page_commands PAGE NUMBER
page_commands() {
    awk -v number="$2" '$0 == "```sh" {on = 1; found++; next} /^```/ {on = 0} on && found == number' "$checkout/$1" | grep . ||
        { echo "$1 has no block $2 of commands" >&2 && return 1; }
}

# Runs the commands of a block of a page in this shell: run_page PAGE NUMBER
run_page() {
    local commands
    commands=$(page_commands "$@")
    echo "$commands"
    eval "$commands"
}

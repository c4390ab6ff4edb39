# Read by the other scripts of setup/: how they speak, fail and remember. Not to be run by itself.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
STATE=$ROOT/.nfvbed/setup
PACKAGE_LIST=$ROOT/setup/packages-debian.txt

EXIT_UNSUPPORTED=11
EXIT_PREREQUISITE=12

say() { printf 'setup: %s\n' "$*"; }

# fail CODE WHAT OBSERVED FIX: the same four parts as nfvbed's own errors.
fail() {
    printf 'setup: %s\n  observed: %s\n  fix: %s\n' "$2" "$3" "$4" >&2
    exit "$1"
}

# section NAME...: the packages of sections of the list.
section() {
    local name
    for name in "$@"; do
        awk -v want="[$name]" '/^#/ || NF == 0 { next } /^\[/ { on = ($1 == want); next } on { print $1 }' "$PACKAGE_LIST"
    done
}

# key FILE...: a hash of the files' content and of the folder, for a stamp.
key() { { printf '%s\n' "$ROOT"; cat "$@"; } | sha256sum | cut -d' ' -f1; }

# A stamp is written last and in one step, so that a failed step leaves none.
is_done() { [ "$(cat "$STATE/$1" 2>/dev/null)" = "$2" ]; }
mark_done() { mkdir -p "$STATE" && printf '%s\n' "$2" >"$STATE/$1.new" && mv "$STATE/$1.new" "$STATE/$1"; }

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

# debian [OS-RELEASE]: the Debian whose packages this machine has; 13 for newer ones and for systems that are like Debian
# (setup/check-host says so).
debian() {
    # shellcheck disable=SC1090
    (. "${1:-/etc/os-release}" 2>/dev/null; if [ "${ID:-}${VERSION_ID:-}" = debian12 ]; then echo 12; else echo 13; fi)
}

# section NAME...: the packages of sections of the list, as this machine's Debian names them.
section() {
    local name
    for name in "$@"; do
        awk -v want="[$name]" -v debian="$(debian)" '/^#/ || NF == 0 { next } /^\[/ { on = ($1 == want); next }
            on && (NF == 1 || $2 == debian) { print $1 }' "$PACKAGE_LIST"
    done
}

# suite NAME: the suite that something is unpacked from on this machine's Debian (setup/suites.txt).
suite() {
    awk -v want="$1" -v debian="$(debian)" '/^#/ || NF == 0 { next } $1 == "debian" { for (i = 2; i <= NF; i++) if ($i == debian) at = i; next }
        $1 == want { print $at }' "$ROOT/setup/suites.txt"
}

# key FILE...: a hash of the files' content and of the folder, for a stamp.
key() { { printf '%s\n' "$ROOT"; cat "$@"; } | sha256sum | cut -d' ' -f1; }

# A stamp is written last and in one step, so that a failed step leaves none.
is_done() { [ "$(cat "$STATE/$1" 2>/dev/null)" = "$2" ]; }
mark_done() { mkdir -p "$STATE" && printf '%s\n' "$2" >"$STATE/$1.new" && mv "$STATE/$1.new" "$STATE/$1"; }

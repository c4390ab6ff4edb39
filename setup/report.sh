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

# debian [OS-RELEASE]: whose packages this machine has, as the lists name it: a Debian, ubuntu24.04, and 13 for newer ones
# and for others that are like Debian (setup/check-host says so).
debian() {
    # shellcheck disable=SC1090
    (. "${1:-/etc/os-release}" 2>/dev/null; case ${ID:-}${VERSION_ID:-} in debian12) echo 12 ;; ubuntu24.04) echo ubuntu24.04 ;; *) echo 13 ;; esac)
}

# section NAME...: the packages of sections of the list, as this machine's Debian names them.
section() {
    local name
    for name in "$@"; do
        awk -v want="[$name]" -v debian="$(debian)" '/^#/ || NF == 0 { next } /^\[/ { on = ($1 == want); next }
            on { of = NF == 1; for (i = 2; i <= NF; i++) if ($i == debian) of = 1; if (of) print $1 }' "$PACKAGE_LIST"
    done
}

# suite NAME: the suite that something is unpacked from on this machine's Debian (setup/suites.txt).
suite() {
    awk -v want="$1" -v debian="$(debian)" '/^#/ || NF == 0 { next } $1 == "debian" { for (i = 2; i <= NF; i++) if ($i == debian) at = i; next }
        $1 == want { print $at }' "$ROOT/setup/suites.txt"
}

# key FILE...: a hash of the files' content, for a stamp.
key() { cat "$@" | sha256sum | cut -d' ' -f1; }

# A stamp is written last and in one step, so that a failed step leaves none. It is of this folder: a copy's is none.
is_done() { [ "$(cat "$STATE/$1" 2>/dev/null)" = "$2 $ROOT" ]; }
mark_done() { mkdir -p "$STATE" && printf '%s %s\n' "$2" "$ROOT" >"$STATE/$1.new" && mv "$STATE/$1.new" "$STATE/$1"; }

# taken KIND NAME STAMP FOLDER: whether NFVBED_CACHE has it (setup/cache); then it is in FOLDER.
taken() {
    local status=0
    [ -n "${NFVBED_CACHE:-}" ] || return 1
    "$ROOT/setup/cache" take "$1" "$2 $3" "$4" || status=$?
    case $status in 0) say "$2: taken from NFVBED_CACHE" ;; 3) return 1 ;; *) exit "$status" ;; esac
}

# is_made KIND NAME STAMP TARGET WORKS: whether TARGET is there with this stamp, or was taken; WORKS is asked about it, too.
is_made() {
    if is_done "$2" "$3" && "$5" "$4"; then return 0; fi
    taken "$1" "$2" "$3" "$(dirname "$4")" && "$5" "$4" && mark_done "$2" "$3"
}

# keep KIND NAME STAMP TARGET: NFVBED_CACHE gets it.
keep() { if [ -n "${NFVBED_CACHE:-}" ]; then "$ROOT/setup/cache" put "$1" "$2 $3" "$4"; fi; }

# made KIND NAME STAMP TARGET: it is complete.
made() {
    mark_done "$2" "$3"
    keep "$@"
}

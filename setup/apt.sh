# Read by the scripts of setup/ that unpack packages of other suites privately. Not to be run by itself.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# private_apt WHAT WORK SUITE...: sets `options`, with which apt-get works in WORK and knows these suites alone.
# The machine's own entry for its Debian says where its mirror is; the other suites lie beside it. A system that is only
# like Debian has another archive: there it is Debian's own.
private_apt() {
    local what=$1 work=$2 mirror signed="" name
    shift 2
    # shellcheck disable=SC1091
    name=$(. /etc/os-release; if [ "${ID:-}" = debian ]; then echo "${VERSION_CODENAME:-}"; fi)
    mirror=http://deb.debian.org/debian
    if [ -n "$name" ]; then
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $name" 'Component: main' | head -n 1)
        [ -n "$mirror" ] || fail $EXIT_PREREQUISITE "there is no source for $what" "apt knows no suite $name" "add main of $name to apt's sources, then try again"
    fi
    if [ -f $KEYRING ]; then signed="[signed-by=$KEYRING]"; fi
    mkdir -p "$work"/{lists/partial,cache/archives/partial}
    printf "deb $signed $mirror %s main\n" "$@" >"$work/sources.list"
    options=(-q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=600)
}

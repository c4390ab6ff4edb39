# Read by the scripts of setup/ that unpack packages of other suites privately. Not to be run by itself.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# private_apt WHAT WORK SUITE...: sets `options`, with which apt-get works in WORK and knows these suites alone, without the
# machine's own pins.
# The machine's own entry for its Debian says where its mirror is; the other suites lie beside it. A system that is only
# like Debian has another archive: there apt is to have an entry of one of these suites.
private_apt() {
    local what=$1 work=$2 mirror="" signed="" name own
    shift 2
    # shellcheck disable=SC1091
    own=$(. /etc/os-release; if [ "${ID:-}" = debian ]; then echo "${VERSION_CODENAME:-}"; fi)
    for name in $own "$@"; do
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $name" 'Component: main' | head -n 1)
        [ -z "$mirror" ] || break
    done
    [ -n "$mirror" ] || fail $EXIT_PREREQUISITE "there is no source for $what" "apt knows none of $own $*" "add Debian's main of one of them to apt's sources (with Pin-Priority: -1 where it is not this system), then try again"
    if [ -f $KEYRING ]; then signed="[signed-by=$KEYRING]"; fi
    mkdir -p "$work"/{lists/partial,cache/archives/partial}
    printf "deb $signed $mirror %s main\n" "$@" >"$work/sources.list"
    options=(-q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=600)
}

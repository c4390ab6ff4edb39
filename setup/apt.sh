# Read by the scripts of setup/ that unpack packages of other suites privately. Not to be run by itself.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# private_apt WHAT WORK SUITE...: sets `options`, with which apt-get works in WORK and knows these suites alone.
# The machine's own entry for Debian 12 says where its mirror is; the other suites lie beside it.
private_apt() {
    local what=$1 work=$2 mirror signed=""
    shift 2
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -n 1)
    [ -n "$mirror" ] || fail $EXIT_PREREQUISITE "there is no source for $what" "apt knows no suite bookworm" "add Debian 12's main to apt's sources, then try again"
    if [ -f $KEYRING ]; then signed="[signed-by=$KEYRING]"; fi
    mkdir -p "$work"/{lists/partial,cache/archives/partial}
    printf "deb $signed $mirror %s main\n" "$@" >"$work/sources.list"
    options=(-q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=600)
}

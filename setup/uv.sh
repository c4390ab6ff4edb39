# Read by the other scripts of setup/, after report.sh: uv, pinned, in .nfvbed/uv, with what pip is configured with here.
# Not to be run by itself.

UV=$ROOT/.nfvbed/uv/bin/uv
UV_PYTHON_HERE=$ROOT/.nfvbed/uv/bin/python

# pip_setting NAME: what pip's files say, empty where nothing does.
pip_setting() { "$UV_PYTHON_HERE" -m pip --disable-pip-version-check config get "global.$1" 2>/dev/null || true; }

# uv reads none of pip's configuration: a mirror, its certificate and further places are passed on.
uv_like_pip() {
    local value
    value=${PIP_INDEX_URL:-$(pip_setting index-url)}
    if [ -n "$value" ]; then export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$value}; fi
    value=${PIP_EXTRA_INDEX_URL:-$(pip_setting extra-index-url)}
    if [ -n "$value" ]; then export UV_INDEX=${UV_INDEX:-$value}; fi
    value=${PIP_FIND_LINKS:-$(pip_setting find-links)}
    if [ -n "$value" ]; then export UV_FIND_LINKS=${UV_FIND_LINKS:-$value}; fi
    value=${PIP_CERT:-$(pip_setting cert)}
    if [ -n "$value" ]; then export SSL_CERT_FILE=${SSL_CERT_FILE:-$value}; fi
    if [ -n "${NFVBED_CACHE:-}" ]; then
        value=$("$ROOT/setup/cache" wheels) || exit
        if [ -n "$value" ]; then export UV_CACHE_DIR=$value; else export UV_NO_CACHE=1; fi
    fi
    # uv leaves its locks where temporary files are.
    mkdir -p "$ROOT/.nfvbed/uv/tmp"
    export TMPDIR=$ROOT/.nfvbed/uv/tmp UV_NO_PROGRESS=1 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=${UV_LINK_MODE:-copy}
}

# need_uv: installs it where it is not there yet.
need_uv() {
    local stamp
    stamp=$(key "$ROOT/setup/uv.sh" "$ROOT/setup/uv.txt" <(/usr/bin/python3 --version))
    if ! is_done uv "$stamp" || ! "$UV" --version >/dev/null 2>&1; then
        rm -rf "$ROOT/.nfvbed/uv"
        /usr/bin/python3 -m venv "$ROOT/.nfvbed/uv"
        "$UV_PYTHON_HERE" -m pip --no-input --disable-pip-version-check install --quiet --require-hashes -r "$ROOT/setup/uv.txt" ||
            fail $EXIT_PREREQUISITE "uv could not be installed" "pip's message is above" "check the network and pip's configuration, then try again"
        mark_done uv "$stamp"
    fi
    uv_like_pip
}

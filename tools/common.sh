# What tools/check and tools/quickstart share; read by them, from the
# repository's root.

heading() {
  printf '\n=== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60))
}

# apt_get COMMAND...: apt-get, as root.
apt_get() {
  local root=()
  if [ "$(id -u)" != 0 ]; then root=(sudo); fi
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -y -q -o Acquire::Retries=3 "$@" >/dev/null
}

# install_packages NAME...: those Debian packages that are not installed.
install_packages() {
  local missing=() p
  if ! command -v dpkg-query >/dev/null; then
    echo "not Debian: install the counterparts of $*"
    return
  fi
  for p in "$@"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" != installed ]; then
      missing+=("$p")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all installed"
    return
  fi
  echo "installing ${missing[*]}"
  apt_get update
  apt_get install --no-install-recommends "${missing[@]}"
}

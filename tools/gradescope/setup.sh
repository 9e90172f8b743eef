#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image from the zip that tools/make_gradescope writes.
set -euo pipefail
home=${AUTOGRADER:-/autograder}

apt-get update
apt-get install -y --no-install-recommends python3 python3-venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: choose Ubuntu 24.04 as the base image")'
python3 -m venv "$home/venv"
if grep -q '^torch==' "$home/source/requirements.txt"; then
  # pip would take a CUDA build of several gigabytes; uv knows where the CPU builds are.
  "$home/venv/bin/pip" install --no-cache-dir uv
  "$home/venv/bin/uv" pip install --no-cache --python "$home/venv/bin/python" --torch-backend=cpu -r "$home/source/requirements.txt"
else
  "$home/venv/bin/pip" install --no-cache-dir -r "$home/source/requirements.txt"
fi

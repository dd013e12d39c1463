set -e
PL_VERSION=${1:-1.9.5}
python -m pip install "pytorch-lightning==${PL_VERSION}" torch

#!/usr/bin/env bash
# Pre-trains the encoder of geometric trees, with the variables of the published script of this name, which
# is why it keeps its .sh (docs/guides.md); the executables of the project bear no ending:
#
#   BATCH_SIZE=2 HIDDEN_CHANNELS=32 scripts/run_gtssl_pretrain.sh DATA [kdgat options ...]
#
# DATA: SWC files or an archive of them, a table of points, or spatial graphs (docs/data.md).
set -euo pipefail

BATCH_SIZE=${BATCH_SIZE:-4}                # graphs of a step
HIDDEN_CHANNELS=${HIDDEN_CHANNELS:-64}
NUM_INTERACTIONS=${NUM_INTERACTIONS:-3}
NUM_RBF_CENTERS=${NUM_RBF_CENTERS:-20}
DEVICE=${DEVICE:-auto}                     # cuda falls back to cpu with auto
EPOCHS=${EPOCHS:-100}
LR=${LR:-0.001}

if [ $# -lt 1 ]; then
  echo "usage: [BATCH_SIZE=4 HIDDEN_CHANNELS=64 ...] $0 DATA [kdgat options ...]" >&2
  exit 2
fi
data=$1
shift
# KDGAT_BINARY names another executable than that of this folder's build.
exec "${KDGAT_BINARY:-$(dirname "$(readlink -f "$0")")/kdgat}" run --preset gtssl --data "$data" --device "$DEVICE" \
  gtssl.batch_size="$BATCH_SIZE" gtssl.hidden_channels="$HIDDEN_CHANNELS" \
  gtssl.num_interactions="$NUM_INTERACTIONS" gtssl.num_rbf_centers="$NUM_RBF_CENTERS" \
  gtssl.epochs="$EPOCHS" gtssl.lr="$LR" "$@"

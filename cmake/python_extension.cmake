# Target _native: bindings/**/*.cpp with nanobind, the core and the runtime in one shared object that
# exports PyInit__native and nothing else. Lands in python/parpy of the source tree, or in the wheel.

# The interpreter: -DPython_EXECUTABLE, else the active virtual environment, else .venv, else python3.
if(NOT Python_EXECUTABLE)
    if(DEFINED ENV{VIRTUAL_ENV})
        set(Python_EXECUTABLE "$ENV{VIRTUAL_ENV}/bin/python")
    elseif(EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
        set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
    endif()
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module NumPy)

execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE nanobind_missing ERROR_QUIET)
if(nanobind_missing)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind; run 'make build', which makes .venv, "
        "or pass -DPython_EXECUTABLE=<an interpreter with nanobind and numpy>, "
        "or -DPARPY_PYTHON_MODULE=OFF")
endif()
find_package(nanobind CONFIG REQUIRED PATHS "${nanobind_ROOT}" NO_DEFAULT_PATH)

nanobind_add_module(_native NB_STATIC NOMINSIZE NOSTRIP ${binding_sources})
target_include_directories(_native PRIVATE bindings)
target_include_directories(_native SYSTEM PRIVATE "${NB_DIR}/include" ${Python_NumPy_INCLUDE_DIRS})
target_link_libraries(_native PRIVATE parpy_flags parpy_core parpy_runtime)

set(exports "${CMAKE_CURRENT_LIST_DIR}/exports.map")
set_target_properties(_native PROPERTIES LINK_DEPENDS "${exports}")
target_link_options(_native PRIVATE
    -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL -Wl,--gc-sections
    -Wl,--wrap=__gxx_personality_v0)  # bindings/calls/finalization.cpp
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_link_options(_native PRIVATE -Wl,-O2 -Wl,-s)
    if(PARPY_USES_LLD)
        # Merges equal functions. Debian's archives have lost their address tables, so --icf=safe would fold nothing of
        # LLVM; nothing in this library compares addresses of functions that could be equal. Packed relocations save
        # 0.7 MB of a wheel and need glibc 2.36.
        target_link_options(_native PRIVATE -Wl,--icf=all -Wl,-z,pack-relative-relocs)
    endif()
endif()

if(SKBUILD)
    # The wheel contains the TBB of the build, which the extension finds beside itself.
    set_target_properties(_native PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS _native LIBRARY DESTINATION parpy)
    get_target_property(tbb_library TBB::tbb IMPORTED_LOCATION_RELEASE)
    if(NOT tbb_library)
        get_target_property(tbb_library TBB::tbb IMPORTED_LOCATION_NONE)
    endif()
    get_filename_component(tbb_file "${tbb_library}" REALPATH)
    install(FILES "${tbb_file}" DESTINATION parpy RENAME libtbb.so.12)
    # The files that parpy.explain_code shows.
    install(FILES "${PROJECT_SOURCE_DIR}/src/support/diagnostics.def" DESTINATION parpy/diagnostics)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/golden/diag/" DESTINATION parpy/diagnostics
        FILES_MATCHING PATTERN "P*.py" PATTERN "P*.txt" PATTERN "__pycache__" EXCLUDE)
elseif(PARPY_SANITIZE)
    # Beside the sources, the instrumented module would replace the development build (tools/sanitize.sh).
    set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/module")
else()
    set_target_properties(_native PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_SOURCE_DIR}/python/parpy")
endif()

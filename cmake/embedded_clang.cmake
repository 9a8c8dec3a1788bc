# Target embedded_clang: the headers and static archives of Clang and LLVM 19 (x86 code generator and
# assembler parser, ORC). Its symbols are hidden in everything that links it, so that another LLVM in the
# process (numba, torch, triton) neither sees ours nor is seen by it.
find_program(PARPY_LLVM_CONFIG NAMES llvm-config-19 llvm-config REQUIRED)

function(llvm_config out)
    execute_process(COMMAND ${PARPY_LLVM_CONFIG} ${ARGN}
        OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

llvm_config(llvm_version --version)
if(NOT llvm_version MATCHES "^19\\.")
    message(FATAL_ERROR "LLVM 19 is needed, ${PARPY_LLVM_CONFIG} is ${llvm_version}; "
        "install llvm-19-dev and libclang-19-dev")
endif()
llvm_config(llvm_include --includedir)
llvm_config(llvm_libdir --libdir)
# Clang's archives need the last six in addition to their own.
llvm_config(llvm_libs --link-static --libs
    x86codegen x86asmparser x86desc x86info orcjit passes
    coverage frontendhlsl frontendopenmp windowsdriver frontenddriver lto)
separate_arguments(llvm_libs UNIX_COMMAND "${llvm_libs}")
list(TRANSFORM llvm_libs REPLACE "^-l(.*)" "${llvm_libdir}/lib\\1.a")
# Polly is wired into Debian's clangCodeGen; cpp_compiler.cpp satisfies the reference with an empty plugin.
list(FILTER llvm_libs EXCLUDE REGEX "/libPolly(ISL)?\\.a$")

set(clang_libs)
foreach(part CodeGen Frontend Driver Serialization Parse Sema APINotes Analysis Edit AST ASTMatchers
        Lex Support Basic)
    list(APPEND clang_libs "${llvm_libdir}/libclang${part}.a")
endforeach()

add_library(embedded_clang INTERFACE)
target_include_directories(embedded_clang SYSTEM INTERFACE "${llvm_include}")
target_compile_definitions(embedded_clang INTERFACE
    __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
target_link_options(embedded_clang INTERFACE -Wl,--gc-sections)

# zlib and zstd are linked statically if the archives exist, so that a wheel does not need the libraries.
find_library(PARPY_ZLIB NAMES libz.a z REQUIRED)
find_library(PARPY_ZSTD NAMES libzstd.a zstd REQUIRED)
find_package(Threads REQUIRED)
target_link_libraries(embedded_clang INTERFACE
    -Wl,--start-group ${clang_libs} -Wl,--end-group ${llvm_libs}
    ${PARPY_ZLIB} ${PARPY_ZSTD} Threads::Threads ${CMAKE_DL_LIBS} m)

# Target isl: the copy of the integer set library in LLVM (libpolly-19-dev).
add_library(isl INTERFACE)
find_path(PARPY_ISL_INCLUDE isl/ctx.h PATHS "${llvm_include}/polly" REQUIRED NO_DEFAULT_PATH)
target_include_directories(isl SYSTEM INTERFACE "${PARPY_ISL_INCLUDE}")
target_link_libraries(isl INTERFACE "${llvm_libdir}/libPollyISL.a")

// NVRTC beside the fake driver: "compiles" any text to itself, or for the CPU if kernels run.
#include <cstring>
#include <string>

#include "emulator.h"
#include "fake_state.h"

using namespace fake;

struct NvrtcProgramRecord {
    std::string text, log;
};

FAKE(nvrtcVersion, int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return kSuccess;
}
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(Result) {
    return "NVRTC_ERROR_MADE_UP";
}
FAKE(nvrtcGetNumSupportedArchs, int* count) {
    *count = 2;
    return kSuccess;
}
FAKE(nvrtcGetSupportedArchs, int* numbers) {
    numbers[0] = 80;
    numbers[1] = 90;
    return kSuccess;
}
FAKE(nvrtcCreateProgram, NvrtcProgramRecord** program, const char* source, const char*, int count,
     const char* const*, const char* const* names) {
    state.headers = count;
    state.header = count > 0 ? names[0] : nullptr;
    *program = new NvrtcProgramRecord{source, "the log"};
    return kSuccess;
}
FAKE(nvrtcCompileProgram, NvrtcProgramRecord* program, int count, const char* const* options) {
    if (emulates) {
        program->text = emulator::compile(program->text, program->log);
        return program->text.empty() ? 6 : kSuccess;
    }
    for (int i = 0; i < count; ++i)
        program->text += std::string("\n// ") + options[i];
    return state.nvrtc_result;
}
FAKE(nvrtcGetProgramLogSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->log.size() + 1;
    return kSuccess;
}
FAKE(nvrtcGetProgramLog, NvrtcProgramRecord* program, char* log) {
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return kSuccess;
}
FAKE(nvrtcGetCUBINSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->text.size();
    return kSuccess;
}
FAKE(nvrtcGetCUBIN, NvrtcProgramRecord* program, char* image) {
    std::memcpy(image, program->text.data(), program->text.size());
    return kSuccess;
}
FAKE(nvrtcGetPTXSize, NvrtcProgramRecord* program, std::size_t* size) {
    *size = program->text.size();
    return kSuccess;
}
FAKE(nvrtcGetPTX, NvrtcProgramRecord* program, char* image) {
    std::memcpy(image, program->text.data(), program->text.size());
    return kSuccess;
}
FAKE(nvrtcDestroyProgram, NvrtcProgramRecord** program) {
    delete *program;
    return kSuccess;
}

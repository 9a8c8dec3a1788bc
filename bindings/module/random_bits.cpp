// LLVM gets the names of its temporary files from arc4random if the C library that it was built
// with has it, as glibc does from 2.36 on. A definition in the extension lets the wheel run with
// glibc 2.35 as well.
#include <sys/random.h>

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
    std::uint32_t bits = 0;
    while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    }
    return bits;
}

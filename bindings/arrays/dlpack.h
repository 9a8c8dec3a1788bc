// The C structures of DLPack (legacy and 1.x), declared by hand: the part of a stable ABI that
// ParPy uses.
#pragma once

#include <cstdint>

namespace parpy::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t {
    kInt = 0,
    kUInt = 1,
    kFloat = 2,
    kBFloat = 4,
    kComplex = 5,
    kBool = 6
};

struct Device {
    std::int32_t type, id;
};
struct DataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct Tensor {
    void* data;
    Device device;
    std::int32_t rank;
    DataType type;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: row-major without gaps
    std::uint64_t byte_offset;
};
struct ManagedTensor {
    Tensor tensor;
    void* context;
    void (*deleter)(ManagedTensor*);
};
struct ManagedTensorVersioned {
    static constexpr std::uint64_t kReadOnly = 1;
    static constexpr std::uint64_t kCopied = 2;
    std::uint32_t major, minor;
    void* context;
    void (*deleter)(ManagedTensorVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

// The table behind a type's `__dlpack_c_exchange_api__`, which exchanges tensors without Python
// calls.
struct ExchangeApi {
    static constexpr std::uint32_t kMajor = 1;
    std::uint32_t major, minor;
    const ExchangeApi* previous;  // for an older major version
    void* allocate;
    void* own_tensor;
    void* wrap_tensor;
    // 0, or -1 with a Python exception. The tensor is valid while the object is.
    int (*borrow_tensor)(void* object, Tensor* result);
    int (*current_stream)(std::int32_t device_type, std::int32_t device, void** result);
};

}  // namespace parpy::dlpack

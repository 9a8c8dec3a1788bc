// A temporary array: on the stack up to a size that nearly every call needs, otherwise on the heap.
#pragma once

#include <cstddef>

namespace parpy {

template <class T, std::size_t N>
class Buffer {
public:
    explicit Buffer(std::size_t size) : data_(size <= N ? inline_ : new T[size]) {}
    ~Buffer() {
        if (data_ != inline_) delete[] data_;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] T* data() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }

private:
    T inline_[N];
    T* data_;
};

}  // namespace parpy

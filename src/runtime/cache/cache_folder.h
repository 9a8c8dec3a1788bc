// Folders and files of the disk cache, by descriptors: it reads, writes and removes only objects
// that it found to be its own, even if others change their paths meanwhile. No link is followed
// below the folder that contains the cache; modes and owners of existing files never change.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

namespace parpy {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { (void)close(); }
    Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;

    [[nodiscard]] bool is_open() const { return number_ >= 0; }
    [[nodiscard]] int number() const { return number_; }
    // False: written data may be lost (errno says why).
    bool close();

    [[nodiscard]] bool read(void* data, std::size_t size) const;
    // False with errno set: not everything was written.
    [[nodiscard]] bool write(const void* data, std::size_t size) const;

private:
    int number_ = -1;
};

// Why an object is not used, for the user; `path` is the path of the object.
struct Refusal {
    std::string path;
    std::string reason;
    std::string help;
};

// An open folder; its path is for messages only.
struct Folder {
    Descriptor descriptor;
    std::string path;

    [[nodiscard]] bool is_open() const { return descriptor.is_open(); }
    [[nodiscard]] int number() const { return descriptor.number(); }
    [[nodiscard]] std::string path_of(const std::string& name) const { return path + '/' + name; }
    // The names of its entries; empty if it cannot be read.
    [[nodiscard]] std::vector<std::string> names() const;
    // The status of the entry itself, even if it is a link. Empty if there is no such entry.
    [[nodiscard]] std::optional<struct stat> status(const std::string& name) const;
};

// Opens the folder at `path`, which must be the user's or root's; `make` creates it with its
// parents. Not open: there is none (nothing in `refusal`), or it is not used.
[[nodiscard]] Folder open_folder(const std::string& path, bool make,
                                 std::optional<Refusal>& refusal);
// Opens the folder `name` in another; the user must own it, and nobody else may write to it.
[[nodiscard]] Folder open_folder(const Folder& in, const std::string& name, bool make,
                                 std::optional<Refusal>& refusal);

// Whether it is a plain file that the user owns.
[[nodiscard]] bool is_own_file(const struct stat& status);

// The message of errno.
[[nodiscard]] std::string words_for(int error);

}  // namespace parpy

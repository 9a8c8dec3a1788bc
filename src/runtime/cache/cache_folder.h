// Folders and files of the disk cache, by descriptors: what was found to be the cache's own is what
// is then read, written and removed, whatever others do to its path meanwhile. No link is followed
// below the folder that the cache lies in; nothing that exists is given another mode or owner.
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
    // False: what was written may be lost (errno says why).
    bool close();

    [[nodiscard]] bool read(void* data, std::size_t size) const;
    // False with errno set: not all of it was written.
    [[nodiscard]] bool write(const void* data, std::size_t size) const;

private:
    int number_ = -1;
};

// Why something is not used, for the user; `path` is what it is about.
struct Refusal {
    std::string path;
    std::string reason;
    std::string help;
};

// A folder with its path, which is for messages alone.
struct Folder {
    Descriptor descriptor;
    std::string path;

    [[nodiscard]] bool is_open() const { return descriptor.is_open(); }
    [[nodiscard]] int number() const { return descriptor.number(); }
    [[nodiscard]] std::string path_of(const std::string& name) const { return path + '/' + name; }
    // Empty when it cannot be read.
    [[nodiscard]] std::vector<std::string> names() const;
    // Describes the entry with that name, and never the target of a link. Empty when there is none.
    [[nodiscard]] std::optional<struct stat> status(const std::string& name) const;
};

// The folder at `path`, the user's or root's, made with those above it if `make` is set. Not open:
// there is none (nothing in `refusal`), or it is not used.
[[nodiscard]] Folder open_folder(const std::string& path, bool make,
                                 std::optional<Refusal>& refusal);
// The folder `name` in another, the user's and nobody else's to write to.
[[nodiscard]] Folder open_folder(const Folder& in, const std::string& name, bool make,
                                 std::optional<Refusal>& refusal);

// A plain file of the user's own.
[[nodiscard]] bool is_own_file(const struct stat& status);

// The words for errno.
[[nodiscard]] std::string words_for(int error);

}  // namespace parpy

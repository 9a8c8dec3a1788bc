// See cache_folder.h.
#include "runtime/cache/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>

namespace parpy {

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kPrivate = 0700;

// The allowed owners of a folder: a private folder only the user may write to.
enum class Owner { kUserOrRoot, kPrivate };

Folder opened(int at, const std::string& name, std::string path, Owner owner,
              std::optional<Refusal>& refusal) {
    const auto refuse = [&](std::string reason, std::string help) {
        refusal = {path, std::move(reason), std::move(help)};
        return Folder{};
    };
    Folder folder{Descriptor(::openat(at, name.c_str(), kFolder)), path};
    struct stat status{};
    if (!folder.is_open()) {
        const int error = errno;
        if (error == ENOENT) return {};
        if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISLNK(status.st_mode))
                return refuse("it is a link",
                              "remove the link, or set PARPY_CACHE_DIR to the folder itself");
            if (!S_ISDIR(status.st_mode))
                return refuse("it is not a folder", "set PARPY_CACHE_DIR to another folder");
        }
        return refuse("it cannot be opened: " + words_for(error),
                      "set PARPY_CACHE_DIR to a folder that you may read and write");
    }
    if (::fstat(folder.number(), &status) != 0)
        return refuse("its permissions cannot be read: " + words_for(errno), {});
    const bool own = status.st_uid == ::geteuid();
    if (!own && (owner == Owner::kPrivate || status.st_uid != 0))
        return refuse("it belongs to another user", "set PARPY_CACHE_DIR to a folder of your own");
    if (owner == Owner::kPrivate && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse("other users may write to it", "chmod 700, or remove it");
    return folder;
}

// 0, or the error of the last folder that could not be made.
int make_folders(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
        ::mkdir(path.substr(0, end).c_str(), kPrivate);
    }
    return ::mkdir(path.c_str(), kPrivate) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

bool Descriptor::close() {
    if (number_ < 0) return true;
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0 || errno == EINTR;  // EINTR: closed all the same
}

bool Descriptor::read(void* data, std::size_t size) const {
    auto* at = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t n = ::read(number_, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

bool Descriptor::write(const void* data, std::size_t size) const {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t n = ::write(number_, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return false;
        at += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> result;
    // The listing closes its descriptor, and has its own position.
    const int listed = ::openat(number(), ".", kFolder);
    DIR* listing = listed < 0 ? nullptr : ::fdopendir(listed);
    if (listing == nullptr) {
        if (listed >= 0) ::close(listed);
        return result;
    }
    while (const dirent* entry = ::readdir(listing)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") result.emplace_back(name);
    }
    ::closedir(listing);
    return result;
}

std::optional<struct stat> Folder::status(const std::string& name) const {
    struct stat status{};
    if (::fstatat(number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return status;
}

Folder open_folder(const std::string& path, bool make, std::optional<Refusal>& refusal) {
    Folder folder = opened(AT_FDCWD, path, path, Owner::kUserOrRoot, refusal);
    if (folder.is_open() || refusal || !make) return folder;
    if (const int error = make_folders(path); error != 0) {
        refusal = {path, "it cannot be made: " + words_for(error),
                   "set PARPY_CACHE_DIR to a folder that you may read and write"};
        return folder;
    }
    return opened(AT_FDCWD, path, path, Owner::kUserOrRoot, refusal);
}

Folder open_folder(const Folder& in, const std::string& name, bool make,
                   std::optional<Refusal>& refusal) {
    const std::string path = in.path_of(name);
    Folder folder = opened(in.number(), name, path, Owner::kPrivate, refusal);
    if (folder.is_open() || refusal || !make) return folder;
    if (::mkdirat(in.number(), name.c_str(), kPrivate) != 0 && errno != EEXIST) {
        // If `in` itself was removed meanwhile, nothing is reported: the caller makes it anew.
        if (errno != ENOENT) refusal = {path, "it cannot be made: " + words_for(errno), {}};
        return folder;
    }
    return opened(in.number(), name, path, Owner::kPrivate, refusal);
}

bool is_own_file(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
}

std::string words_for(int error) {
    std::string words = std::generic_category().message(error);
    if (!words.empty() && words[0] >= 'A' && words[0] <= 'Z') words[0] += 'a' - 'A';
    return words;
}

}  // namespace parpy

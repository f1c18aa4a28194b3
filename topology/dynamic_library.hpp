#pragma once
// A library that may or may not be there, opened when the program runs. For the files of
// this folder that ask NVIDIA's driver.

#include <memory>
#include <string>

#include <dlfcn.h>

namespace crossbow {

class DynamicLibrary {
 public:
  explicit DynamicLibrary(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {}

  bool is_open() const { return handle_ != nullptr; }

  /// Call a function that returns 0 for success; false where it fails or is not there.
  template <class... Parameters, class... Arguments>
  bool call(const char* function, int (*)(Parameters...), Arguments... arguments) const {
    const auto address =
        is_open()
            ? reinterpret_cast<int (*)(Parameters...)>(dlsym(handle_.get(), function))
            : nullptr;
    return address != nullptr && address(arguments...) == 0;
  }

 private:
  struct Close {
    void operator()(void* handle) const { dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
};

/// The type of such a function, to be named in call(): signature<int*>.
template <class... Parameters>
inline constexpr int (*signature)(Parameters...) = nullptr;

}  // namespace crossbow

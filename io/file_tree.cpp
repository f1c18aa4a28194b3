#include "io/file_tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_map>

#include "base/error.hpp"

#include "io/archive_reader.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

// Data lie in split/class/file, maybe with a folder or two around: a loop of links, or
// the root of a machine, is not followed to its end.
constexpr int most_depth = 6;

std::vector<TreeEntry> list_folder(const std::string& folder) {
  std::error_code failed;
  std::vector<TreeEntry> entries;
  auto i = fs::recursive_directory_iterator(
      folder, fs::directory_options::follow_directory_symlink, failed);
  while (!failed && i != fs::recursive_directory_iterator()) {
    if (i.depth() >= most_depth) {
      i.disable_recursion_pending();
    }
    std::error_code unknown;  // a link to nothing is for the reader to complain of
    entries.push_back({i->path().lexically_relative(folder).generic_string(),
                       i->is_directory(unknown)});
    i.increment(failed);
  }
  if (failed) {
    throw read_error(folder, failed.value());
  }
  return entries;
}

std::vector<TreeEntry> list_archive(const std::string& path) {
  std::map<std::string, bool> kinds;  // a later member of the same name replaces one
  ArchiveReader archive(path);
  while (archive.next()) {
    kinds[archive.name()] = archive.is_folder();
  }
  std::vector<TreeEntry> entries;
  entries.reserve(kinds.size());
  for (const auto& [name, is_a_folder] : kinds) {
    entries.push_back({name, is_a_folder});
  }
  return entries;
}

[[noreturn]] void fail_missing(const std::string& source, const std::string& path) {
  throw Error(ExitCode::data,
              ErrorText{.what = "there is no " + path + " in " + source,
                        .why = "",
                        .where = "",
                        .remedy = "Leave it as it is while it is imported"});
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool has_ending(const std::string& path, std::span<const std::string_view> endings) {
  std::string ending = fs::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

bool has_archive_name(const std::string& path) {
  constexpr std::array<const char*, 5> endings{".tar", ".tar.gz", ".tgz", ".zip", ".npz"};
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) {
    return path.ends_with(ending);
  });
}

std::vector<TreeEntry> list_tree(const std::string& source) {
  std::vector<TreeEntry> entries =
      is_folder(source) ? list_folder(source) : list_archive(source);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.path < b.path;
  });
  return entries;
}

std::vector<std::string> first_files(const std::string& archive) {
  constexpr std::size_t most = 100;
  std::vector<std::string> paths;
  ArchiveReader reader(archive);
  while (paths.size() < most && reader.next()) {
    if (!reader.is_folder()) {
      paths.push_back(reader.name());
    }
  }
  return paths;
}

void read_tree(const std::string& source,
               const std::vector<std::string>& paths,
               const FileVisitor& visit) {
  if (is_folder(source)) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      visit(i, read_file((fs::path(source) / paths[i]).string()));
    }
    return;
  }
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    places[paths[i]] = i;
  }
  std::vector<bool> seen(paths.size());
  ArchiveReader archive(source);
  while (archive.next()) {
    const auto place = places.find(archive.name());
    if (!archive.is_folder() && place != places.end()) {
      visit(place->second, archive.read());
      seen[place->second] = true;
    }
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end()) {
    fail_missing(source, paths[static_cast<std::size_t>(missing - seen.begin())]);
  }
}

}  // namespace crossbow

#include "io/data_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/error.hpp"

#include "io/file_tree.hpp"
#include "io/importers/idx.hpp"
#include "io/importers/importer.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where build/<preset>/crossbow was built; empty if that cannot be told.
fs::path source_tree() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program.parent_path().parent_path().parent_path();
}

std::vector<std::string> without_repetitions(const std::vector<fs::path>& paths) {
  std::vector<std::string> places;
  for (const fs::path& path : paths) {
    const std::string place = path.lexically_normal().string();
    if (std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(place);
    }
  }
  return places;
}

bool exists(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

// What a folder has to load: one file for each split, files that an importer takes, or an
// archive of them.
std::optional<std::string> find_in_folder(const std::string& folder, Split split) {
  const std::string file = (fs::path(folder) / (to_string(split) + ".h5")).string();
  if (exists(file)) {
    return file;
  }
  if (importer_for(folder) != nullptr) {
    return folder;
  }
  std::vector<std::string> archives;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (has_archive_name(entry.path().string())) {
      archives.push_back(entry.path().string());
    }
  }
  std::sort(archives.begin(), archives.end());
  const auto found = std::find_if(archives.begin(), archives.end(), [](const auto& path) {
    return importer_for(path) != nullptr;
  });
  return found == archives.end() ? std::nullopt : std::optional(*found);
}

// A place holds folders named like data sets, or (--data-path, CROSSBOW_DATA) is such a
// folder.
std::optional<std::string> find_in(const std::string& place,
                                   const std::string& name,
                                   Split split) {
  const fs::path folder(place);
  const fs::path last =
      folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  const std::string inside = (folder / name).string();
  if (name.ends_with(".h5") && exists(inside)) {
    return inside;
  }
  if (is_folder(inside)) {
    if (auto found = find_in_folder(inside, split)) {
      return found;
    }
  }
  return last == name && is_folder(place) ? find_in_folder(place, split) : std::nullopt;
}

std::string remedy_for(const std::string& name) {
  const std::string or_path = " or give its place with --data-path or CROSSBOW_DATA";
  if (name == "fashion-mnist") {
    return "Install Debian's package dataset-fashion-mnist" + or_path;
  }
  if (name == "mnist" || name == "cifar10" || name == "cifar100") {
    return "Run scripts/get_data " + name + or_path;
  }
  return "Give the path of an .h5 file or of what `crossbow import` takes," + or_path;
}

[[noreturn]] void fail_not_found(const std::string& name,
                                 const std::vector<std::string>& places) {
  std::string list;
  for (const std::string& place : places) {
    list += (list.empty() ? "" : ", ") + place;
  }
  throw Error(ExitCode::data,
              ErrorText{.what = "the data set '" + name + "' is not found",
                        .why = "looked in " + list,
                        .where = "",
                        .remedy = remedy_for(name)});
}

// A path is taken as it is, or of a folder what it has; a bare name is looked for, then
// taken as a path.
std::string locate(const std::string& name, Split split, const DataSearch& search) {
  const bool is_path = name.find('/') != std::string::npos;
  const bool is_file = exists(name) && !is_folder(name);
  if (!is_path && !is_file) {
    std::vector<std::string> places = search_places(search);
    for (const std::string& place : places) {
      if (const auto found = find_in(place, name, split)) {
        return *found;
      }
    }
    if (!exists(name)) {
      places.emplace_back("the working directory");
      fail_not_found(name, places);
    }
  }
  return is_folder(name) ? find_in_folder(name, split).value_or(name) : name;
}

std::optional<Dataset> read_cached(const std::string& file,
                                   const std::string& digest,
                                   const Notice& notice) {
  if (!exists(file)) {
    return std::nullopt;
  }
  try {
    Dataset data = read_dataset(file);
    if (data.digest == digest) {
      return data;
    }
    say(notice, "the cached import " + file + " is of other data; importing again");
  } catch (const Error& error) {
    say(notice,
        std::string("the cached import cannot be used: ") + error.what() +
            ". Importing again");
  }
  return std::nullopt;
}

void keep_in_cache(const std::string& file, const Dataset& data, const Notice& notice) {
  try {
    std::error_code failed;
    fs::create_directories(fs::path(file).parent_path(), failed);
    write_dataset(file, data);
    say(notice, "imported " + data.source + " once into " + file);
  } catch (const Error& error) {
    say(notice,
        std::string("the import is not kept for the next run: ") + error.what() +
            ". CROSSBOW_CACHE names another folder");
  }
}

Dataset load_imported(const std::string& source,
                      const Importer& importer,
                      Split split,
                      const Notice& notice) {
  const ImportOptions options{.split = split, .progress = {}};
  const std::string cache = cache_folder();
  if (cache.empty()) {
    say(notice,
        "the import of " + source + " is not kept for the next run: no HOME is set");
    return importer.import(source, options).data;
  }
  const auto file_of = [&](const std::string& digest) {
    const std::string name = digest + "-" + importer.name + "-" + to_string(split);
    return (fs::path(cache) / (name + ".h5")).string();
  };
  const SourceIdentity identity = importer.identify(source, split);
  if (auto cached = read_cached(file_of(identity.digest), identity.digest, notice)) {
    cached->source = identity.text;
    return *std::move(cached);
  }
  // Minutes, where the source is large.
  say(notice, "importing the " + to_string(split) + " samples of " + source);
  Dataset data = importer.import(source, options).data;
  keep_in_cache(file_of(data.digest), data, notice);
  return data;
}

// A folder without anything in it, or a file that nobody knows: each kind has a complaint
// of its own.
Dataset load_unknown(const std::string& path, Split split) {
  return is_folder(path) ? import_idx(path, split) : read_dataset(path);
}

}  // namespace

std::vector<std::string> search_places(const DataSearch& search) {
  std::vector<fs::path> places(search.extra_paths.begin(), search.extra_paths.end());
  std::istringstream entries(environment("CROSSBOW_DATA"));
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty()) {
      places.emplace_back(entry);
    }
  }
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  const fs::path tree = source_tree();
  for (const char* place : {"inputs/data", "../shared/data"}) {
    places.push_back(here / place);
    if (!tree.empty()) {
      places.push_back(tree / place);
    }
  }
  places.emplace_back("/usr/share/datasets");
  if (!tree.empty()) {
    places.push_back(tree / ".deps/usr/share/datasets");
  }
  return without_repetitions(places);
}

std::string cache_folder() {
  if (std::string own = environment("CROSSBOW_CACHE"); !own.empty()) {
    return own;
  }
  const std::string user = environment("XDG_CACHE_HOME");
  if (!user.empty() && fs::path(user).is_absolute()) {
    return (fs::path(user) / "crossbow").string();
  }
  const std::string home = environment("HOME");
  return home.empty() ? "" : (fs::path(home) / ".cache/crossbow").string();
}

Dataset load_data(const std::string& name_or_path,
                  Split split,
                  const DataSearch& search,
                  const Notice& notice) {
  CROSSBOW_VALIDATE(!name_or_path.empty(),
                    ExitCode::data,
                    {.what = "the name of the " + to_string(split) + " data is empty",
                     .why = "",
                     .where = "",
                     .remedy = "Give data." + to_string(split)});
  const std::string found = locate(name_or_path, split, search);
  const Importer* importer = found.ends_with(".h5") ? nullptr : importer_for(found);
  Dataset data = importer == nullptr ? load_unknown(found, split)
                                     : load_imported(found, *importer, split, notice);
  data.place = found;  // not the cache's file
  return data;
}

}  // namespace crossbow

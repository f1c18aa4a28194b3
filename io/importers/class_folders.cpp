#include "io/importers/class_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/error.hpp"

#include "io/importers/image_folder.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;  // of folders, and the file's last

constexpr std::array<std::string_view, 1> train_names{"train"};
constexpr std::array<std::string_view, 4> test_names{
    "test", "val", "valid", "validation"};

bool is_split_name(const std::string& name) {
  return name == train_names[0] ||
         std::find(test_names.begin(), test_names.end(), name) != test_names.end();
}

Names split_path(const std::string& path) {
  Names names;
  for (const fs::path& name : fs::path(path)) {
    names.push_back(name.string());
  }
  return names;
}

// What other programs leave behind: "._x.jpg", ".DS_Store", "__MACOSX".
bool is_hidden(const Names& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with('.') || name == "__MACOSX";
  });
}

// An image that would silently be missing.
bool has_other_image_name(const std::string& path) {
  constexpr std::array<std::string_view, 7> endings{
      ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"};
  return has_ending(path, endings);
}

struct Item {
  std::string path;
  Names names;
};

// What lies above the classes.
struct Layout {
  Names around;  // folders that are common to all images, and neither split nor class
  std::string split;  // the folder of the split; empty: there is none

  std::size_t class_level() const { return around.size() + (split.empty() ? 0 : 1); }
};

Names common_folders(const std::vector<Item>& images) {
  Names around;
  const Names& first = images.front().names;
  const auto is_common = [&](const Item& image) {
    return image.names.size() > around.size() + 2 &&
           image.names[around.size()] == first[around.size()];
  };
  while (std::all_of(images.begin(), images.end(), is_common) &&
         !is_split_name(first[around.size()])) {
    around.push_back(first[around.size()]);
  }
  return around;
}

// The folder of a split in this place, of those that have images.
std::string choose_split(const std::set<std::string>& present,
                         Split split,
                         const std::string& source) {
  const auto names = split == Split::train
                         ? std::span<const std::string_view>(train_names)
                         : std::span<const std::string_view>(test_names);
  for (const std::string_view name : names) {
    if (present.contains(std::string(name))) {
      return std::string(name);
    }
  }
  throw Error(ExitCode::data,
              ErrorText{.what = "there are no images of the " + to_string(split) +
                                " split in " + source,
                        .why = "it has the folder " + *present.begin(),
                        .where = "",
                        .remedy = "Name another split or source"});
}

// The folders at the top are splits if all of them are called so and hold folders: a
// class of trains is none.
Layout layout_of(const std::vector<Item>& images,
                 Split split,
                 const std::string& source) {
  Layout layout{.around = common_folders(images), .split = ""};
  const std::size_t level = layout.around.size();
  std::set<std::string> present;
  for (const Item& image : images) {
    if (image.names.size() < level + 3 || !is_split_name(image.names[level])) {
      return layout;
    }
    present.insert(image.names[level]);
  }
  layout.split = choose_split(present, split, source);
  return layout;
}

// The images among the entries, without what lies around all of them.
std::vector<Item> images_of(const std::vector<TreeEntry>& entries,
                            const std::string& source,
                            ImportFaults& faults) {
  std::vector<Item> images;
  for (const TreeEntry& entry : entries) {
    Names names = split_path(entry.path);
    if (entry.is_folder || is_hidden(names)) {
      continue;
    }
    if (has_image_name(entry.path)) {
      images.push_back({entry.path, std::move(names)});
    } else if (has_other_image_name(entry.path)) {
      faults.add(entry.path, "it is neither JPEG nor PNG");
    }
  }
  CROSSBOW_VALIDATE(
      !images.empty(),
      ExitCode::data,
      {.what = "there are no JPEG or PNG files in " + source,
       .why = "",
       .where = "",
       .remedy = "Give a folder, or a tar or zip file of one, with a folder of images "
                 "for each class"});
  return images;
}

// The paths of each class in this split; one may be empty.
using Classes = std::map<std::string, Names>;

// Folders without images are classes, too: `names` is the path of a folder.
void add_folder(Classes& classes, const Names& names, const Layout& layout) {
  const bool is_class =
      !is_hidden(names) && names.size() == layout.class_level() + 1 &&
      std::equal(layout.around.begin(), layout.around.end(), names.begin());
  if (is_class && (layout.split.empty() || is_split_name(names[layout.around.size()]))) {
    classes[names.back()];
  }
}

void add_image(Classes& classes,
               const Item& image,
               const Layout& layout,
               ImportFaults& faults) {
  const std::size_t level = layout.class_level();
  if (image.names.size() < level + 2) {
    faults.add(image.path, "it lies in no folder of a class");
    return;
  }
  Names& paths = classes[image.names[level]];
  if (layout.split.empty() || image.names[level - 1] == layout.split) {
    paths.push_back(image.path);
  }
}

}  // namespace

ClassFolders find_classes(const std::vector<TreeEntry>& entries,
                          Split split,
                          const std::string& source,
                          ImportFaults& faults) {
  const std::vector<Item> images = images_of(entries, source, faults);
  const Layout layout = layout_of(images, split, source);
  Classes classes;
  for (const TreeEntry& entry : entries) {
    if (entry.is_folder) {
      add_folder(classes, split_path(entry.path), layout);
    }
  }
  for (const Item& image : images) {
    add_image(classes, image, layout, faults);
  }
  ClassFolders found;
  for (const auto& [name, paths] : classes) {
    if (paths.empty()) {
      faults.add("class " + name,
                 "it has no images in the " + to_string(split) + " split");
    }
    const auto label = static_cast<std::int32_t>(found.class_names.size());
    found.class_names.push_back(name);
    found.labels.insert(found.labels.end(), paths.size(), label);
    found.paths.insert(found.paths.end(), paths.begin(), paths.end());
  }
  return found;
}

}  // namespace crossbow

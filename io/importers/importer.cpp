#include "io/importers/importer.hpp"

#include <algorithm>
#include <array>

#include "io/file_digest.hpp"
#include "io/importers/cifar.hpp"
#include "io/importers/idx.hpp"
#include "io/importers/image_folder.hpp"
#include "io/importers/npz.hpp"

namespace crossbow {
namespace {

constexpr std::array table{
    Importer{.name = "mnist",
             .help = "a folder of IDX files",
             .recognises = is_idx_folder,
             .identify = [](const std::string& source, Split split) -> SourceIdentity {
               const IdxPair pair = find_idx_pair(source, split);
               return {source_text(pair), sha256_of_files({pair.images, pair.labels})};
             },
             .import = [](const std::string& source,
                          const ImportOptions& options) -> ImportResult {
               return {import_idx(source, options.split), {}};
             }},
    Importer{.name = "cifar10",
             .help = "the binary version, as a folder, tar or tar.gz",
             .recognises =
                 [](const std::string& source) { return is_cifar(cifar10(), source); },
             .identify = [](const std::string& source, Split split) -> SourceIdentity {
               return {source, cifar_digest(cifar10(), source, split)};
             },
             .import =
                 [](const std::string& source, const ImportOptions& options) {
                   return import_cifar(cifar10(), source, options);
                 }},
    Importer{.name = "cifar100",
             .help = "likewise; the fine labels are taken",
             .recognises =
                 [](const std::string& source) { return is_cifar(cifar100(), source); },
             .identify = [](const std::string& source, Split split) -> SourceIdentity {
               return {source, cifar_digest(cifar100(), source, split)};
             },
             .import =
                 [](const std::string& source, const ImportOptions& options) {
                   return import_cifar(cifar100(), source, options);
                 }},
    Importer{.name = "npz",
             .help =
                 "a NumPy .npz or HDF5 file of the arrays images and labels (or x and "
                 "y, x_train, y_train, ...)",
             .recognises = is_npz,
             .identify = [](const std::string& source, Split) -> SourceIdentity {
               return {source, sha256_of_files({source})};
             },
             .import = import_npz},
    Importer{.name = "image-folder",
             .help =
                 "a folder, tar or zip file with a folder of JPEG or PNG files for each "
                 "class, in folders train and test (or val) if there are both",
             .recognises = is_image_folder,
             .identify = [](const std::string& source, Split) -> SourceIdentity {
               return {source, image_folder_digest(source)};
             },
             .import = import_image_folder},
};

}  // namespace

std::span<const Importer> importers() {
  return table;
}

const Importer* importer_named(const std::string& name) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Importer& i) { return i.name == name; });
  return found == table.end() ? nullptr : found;
}

const Importer* importer_for(const std::string& source) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const Importer& i) {
        return i.recognises(source);
      });
  return found == table.end() ? nullptr : found;
}

}  // namespace crossbow
